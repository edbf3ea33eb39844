#include "seat/doctor/planted.h"

#include <algorithm>

namespace deem::seat {
namespace {

using enum ServerKind;

const std::vector<ServerKind> kAll = {Vllm, Ollama, LlamaServer, OpenAi, Sglang, LmStudio};
const std::vector<ServerKind> kTokenizers = {Vllm, LlamaServer, Sglang};
const std::vector<ServerKind> kChats = {Vllm, OpenAi};
/// Those whose replies for letters bear a name.
const std::vector<ServerKind> kNaming = {Vllm, Ollama, LlamaServer, OpenAi, LmStudio};
/// Those whose number of entries is asked by k.
const std::vector<ServerKind> kTop = {Ollama, OpenAi, LmStudio};

bool holds(const std::vector<ServerKind>& kinds, ServerKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// So small that overrunning it takes no time.
FakeOptions small_context() {
  FakeOptions out;
  out.context = 1024;
  return out;
}

std::vector<Planted> make_planted() {
  using enum Family;
  using enum RowFate;
  FakeOptions drafts;
  drafts.speculates = true;
  return {
      {"NullLogprobs", Fault::NullLogprobs, Shape, "shape", "is null", Void, kAll, {}},
      {"EmptyLogprobs", Fault::EmptyLogprobs, Shape, "shape", "is empty", Void, kAll, {}},
      {"MissingLogprobs", Fault::MissingLogprobs, Shape, "shape", "is missing", Void, kAll, {}},
      {"EmptyTop",
       Fault::EmptyTop,
       Shape,
       "shape",
       "top_logprobs\" is empty",
       Void,
       {Vllm, LlamaServer},
       {}},
      {"EmptyTopOfK", Fault::EmptyTop, Shape, "shape", "top_logprobs\" is empty", Passes, kTop, {}},
      {"LegacyLayout", Fault::LegacyLayout, Shape, "shape", "/v1/completions", Void, kChats, {}},
      {"OldProbs",
       Fault::OldProbs,
       Shape,
       "shape",
       "before December 2024",
       Void,
       {LlamaServer},
       {}},
      {"SampledProbs",
       Fault::SampledProbs,
       Shape,
       "shape",
       "after sampling",
       Void,
       {LlamaServer},
       {}},
      {"NullEntries",
       Fault::NullEntries,
       Values,
       "shape",
       "no entry of the list has a number",
       Void,
       kAll,
       {}},
      {"MinusInfinity",
       Fault::MinusInfinity,
       Values,
       "logprobs",
       "without a number|has no number",
       Void,
       kAll,
       {}},
      {"Sentinel", Fault::Sentinel, Values, "logprobs", "-9999", Void, kAll, {}},
      {"PadSentinel", Fault::PadSentinel, Values, "logprobs", "-9999", Void, kAll, {}},
      {"AllZero", Fault::AllZero, Values, "logprobs", "every number is 0", Void, kAll, {}},
      {"NanBody", Fault::NanBody, Values, "logprobs", "NaN", Void, kAll, {}},
      {"AboveOne", Fault::AboveOne, Values, "logprobs", "sum to|above 0", Void, kAll, {}},
      {"Probabilities",
       Fault::Probabilities,
       Values,
       "logprobs",
       "probabilities, not",
       Void,
       kAll,
       {}},
      {"Logits", Fault::Logits, Values, "logprobs", "above 0", Void, kAll, {}},
      {"LogTen", Fault::LogTen, Values, "logprobs", "base of 10|sum to", Void, kAll, {}},
      {"LogTwo", Fault::LogTwo, Scale, "logprobs", "of the probability", Passes, {LlamaServer}, {}},
      {"OneHot",
       Fault::OneHot,
       Values,
       "logprobs",
       "processed|-9999",
       Void,
       {Vllm, LlamaServer},
       {}},
      {"OneHotOfK", Fault::OneHot, Values, "logprobs", "processed", Passes, kTop, {}},
      {"Processed", Fault::Processed, Again, "logprobs", "processed", Passes, kAll, {}},
      {"Jitter", Fault::Jitter, Again, "repeat", "5 times", Passes, kAll, {}},
      {"CrowdJitter", Fault::CrowdJitter, Again, "repeat", "in flight", Passes, kAll, {}},
      {"CrossTalk", Fault::CrossTalk, Again, "repeat", "unlike ones in flight", Passes, kAll, {}},
      {"CacheDrift", Fault::CacheDrift, Again, "prefix-cache", "seen before", Passes, kAll, {}},
      {"PadInMix", Fault::PadInMix, Ids, "mixed", "top k beside exact ids", Void, {Vllm}, {}},
      {"LaterZeros", Fault::LaterZeros, Later, "speculation", "after the first", Passes, kAll,
       drafts},
      {"ThinkingFirst", Fault::ThinkingFirst, First, "template", "thinking token", Void, kAll, {}},
      {"OpenThinking",
       Fault::OpenThinking,
       First,
       "template",
       "thinking is not closed|thinking token",
       Void,
       kAll,
       {}},
      {"MultiCharacter",
       Fault::MultiCharacter,
       First,
       "template",
       "longer word|the letters have",
       Void,
       kAll,
       {}},
      {"LowMass", Fault::LowMass, First, "template", "the letters have", Void, kAll, {}},
      {"LookAlike", Fault::LookAlike, First, "letters", "policy fold", Void, kTop, {}},
      {"SampledNotListed",
       Fault::SampledNotListed,
       Written,
       "logprobs",
       "not in its own list",
       Void,
       kAll,
       {}},
      {"SampledDiffers",
       Fault::SampledDiffers,
       Written,
       "logprobs",
       "in its own list",
       Passes,
       kAll,
       {}},
      {"SampledUnlikely",
       Fault::SampledUnlikely,
       Written,
       "logprobs",
       "is likelier",
       Passes,
       kAll,
       {}},
      {"FewerEntries",
       Fault::FewerEntries,
       Count,
       "depth",
       "asked, [15] came|asked 22 did not come back",
       Passes,
       kAll,
       {}},
      {"IdsDropped",
       Fault::IdsDropped,
       Ids,
       "depth",
       "did not come back",
       Passes,
       {Vllm, Sglang},
       {}},
      {"Truncated",
       Fault::Truncated,
       Service,
       "tokenizer",
       "counts \\d+ tokens",
       Noted,
       kTokenizers,
       {}},
      {"HiddenBos",
       Fault::HiddenBos,
       Service,
       "tokenizer",
       "counts \\d+ tokens",
       Noted,
       kTokenizers,
       {}},
      {"OverlongCut", Fault::OverlongCut, Over, "overlong", "cuts silently", Passes, kAll, {}},
      {"OverlongInvented",
       Fault::OverlongInvented,
       Over,
       "overlong",
       "does not tell",
       Passes,
       {Vllm, LlamaServer, Ollama, Sglang},
       {}},
      {"OverlongSmaller",
       Fault::OverlongSmaller,
       Over,
       "overlong",
       "refuses by",
       Passes,
       kTokenizers,
       {}},
      {"DoubleBos", Fault::DoubleBos, Bos, "tokenizer", "twice", Passes, kTokenizers, {}},
      {"MissingBos",
       Fault::MissingBos,
       Bos,
       "tokenizer",
       "begins without",
       Passes,
       {Vllm, Sglang},
       {}},
      {"LossyTokenizer",
       Fault::LossyTokenizer,
       Prompt,
       "tokenizer",
       "does not come back",
       Passes,
       kTokenizers,
       {}},
      {"SharedLetter",
       Fault::SharedLetter,
       Proof,
       "letters",
       "same token",
       Refused,
       kTokenizers,
       {}},
      {"WrongModel",
       Fault::WrongModel,
       Service,
       "identity",
       "some-other-model",
       Noted,
       kNaming,
       {}},
      {"AnyName",
       Fault::AnyName,
       Service,
       "identity",
       "does not serve",
       Passes,
       {Vllm, Ollama, OpenAi, LmStudio},
       {}},
      {"StaleWeights", Fault::StaleWeights, Prompt, "identity", "digest", Passes, {Ollama}, {}},
      {"SwappedWeights",
       Fault::SwappedWeights,
       Service,
       "identity",
       "changed meanwhile",
       Passes,
       kTokenizers,
       {}},
      {"Wanders",
       Fault::Wanders,
       Answer,
       "sanity",
       "like guessing by every reading",
       Passes,
       kAll,
       {}},
      {"FirstOption",
       Fault::FirstOption,
       Answer,
       "sanity",
       "by every reading.*stuck on the first option",
       Passes,
       kAll,
       {}},
      {"AllAlike",
       Fault::AllAlike,
       Answer,
       "sanity",
       "by every reading.*letters are all alike",
       Passes,
       kAll,
       {}},
      {"InvalidJson", Fault::InvalidJson, Reply, "answers", "not JSON|HTTP 400", Refused, kAll, {}},
      {"NotJson", Fault::NotJson, Reply, "answers", "It works!", Refused, kAll, {}},
      {"BadRequest", Fault::BadRequest, Reply, "answers", "HTTP 400", Refused, kAll, {}},
      {"TooManyRequests", Fault::TooManyRequests, Reply, "answers", "HTTP 429", Refused, kAll, {}},
      {"ServerError", Fault::ServerError, Reply, "answers", "HTTP 500", Refused, kAll, {}},
      {"Loading", Fault::Loading, Reply, "answers", "HTTP 503", Refused, kAll, {}},
      {"PlainTextError", Fault::PlainTextError, Reply, "answers", "HTTP 502", Refused, kAll, {}},
      {"Hang", Fault::Hang, Reply, "answers", "HTTP 200|by the deadline", Refused, kAll, {}},
      {"Close", Fault::Close, Reply, "answers", "without a reply", Refused, kAll, {}},
      {"CloseMidReply",
       Fault::CloseMidReply,
       Reply,
       "answers",
       "inside its reply",
       Refused,
       kAll,
       {}},
      {"Stall", Fault::Stall, Reply, "answers", "HTTP 200|by the deadline", Refused, kAll, {}},
  };
}

}  // namespace

bool Planted::suits(ServerKind kind) const { return holds(kinds, kind); }
bool Healthy::suits(ServerKind kind) const { return holds(kinds, kind); }

const std::vector<Planted>& planted_faults() {
  static const std::vector<Planted> faults = [] {
    auto made = make_planted();
    for (Planted& planted : made) planted.options.context = small_context().context;
    return made;
  }();
  return faults;
}

bool hides(const Planted& a, const Planted& b) {
  const auto is = [](const Planted& one, std::initializer_list<Family> families) {
    return std::ranges::find(families, one.family) != families.end();
  };
  switch (a.family) {
    case Family::Reply:
      return !is(b, {Family::Prompt, Family::Bos});
    case Family::Proof:
      return is(b, {Family::Ids, Family::Answer});
    case Family::Shape:
      return !is(b, {Family::Prompt, Family::Bos, Family::Service, Family::Over, Family::Proof,
                     Family::Reply});
    case Family::Values:
    case Family::First:
      return is(b, {Family::Values, Family::Scale, Family::First, Family::Written, Family::Again,
                    Family::Ids, Family::Answer});
    case Family::Written:
      return is(b, {Family::Written, Family::First, Family::Values, Family::Scale, Family::Answer});
    case Family::Count:
      return is(b, {Family::Count, Family::Scale});
    case Family::Bos:
    case Family::Over:
    case Family::Scale:
    case Family::Answer:
      return a.family == b.family;
    case Family::Again:
    case Family::Ids:
      return is(b, {a.family, Family::Answer});
    case Family::Prompt:
    case Family::Service:
    case Family::Later:
      return false;
  }
  return false;
}

std::optional<ServerKind> kind_for(const Planted& a, const Planted& b, std::size_t turn) {
  std::vector<ServerKind> both;
  for (const ServerKind kind : a.kinds) {
    if (b.suits(kind)) both.push_back(kind);
  }
  if (both.empty()) return std::nullopt;
  return both[turn % both.size()];
}

FakeOptions merged(const Planted& a, const Planted& b) {
  FakeOptions out = a.options;
  out.speculates |= b.options.speculates;
  return out;
}

std::vector<Healthy> healthy_servers() {
  std::vector<Healthy> out = {{"Plain", kAll, small_context(), {}},
                              {"Chunked", kAll, small_context(), {Fault::Chunked}}};
  const auto add = [&](const char* name, const std::vector<ServerKind>& kinds, auto&& set) {
    Healthy one{.name = name, .kinds = kinds, .options = small_context(), .harmless = {}};
    set(one.options);
    out.push_back(std::move(one));
  };
  add("Bos", kAll, [](FakeOptions& o) { o.bos = true; });
  add("LongContext", kAll, [](FakeOptions& o) { o.context = 16'384; });
  add("Drafts", kTokenizers, [](FakeOptions& o) { o.speculates = true; });
  add("FiveEntries", kChats, [](FakeOptions& o) { o.max_top_k = 5; });
  add("WithoutExactIds", {Vllm, Sglang}, [](FakeOptions& o) { o.exact_ids = false; });
  add("WithoutTokenizer", {Vllm, Sglang}, [](FakeOptions& o) { o.tokenizer = false; });
  add("HugeLists", {Vllm}, [](FakeOptions& o) { o.max_top_k = -1; });
  add("NotLoaded", {Ollama}, [](FakeOptions& o) { o.resident = false; });
  add("WithoutLogprobs", {OpenAi}, [](FakeOptions& o) { o.returns_logprobs = false; });
  add("OtherTokenLimit", {OpenAi}, [](FakeOptions& o) { o.completion_tokens_only = true; });
  add("ThreeThreads", kAll, [](FakeOptions& o) { o.threads = 3; });
  out.push_back({"FarSampled", {OpenAi}, small_context(), {Fault::FarSampled}});
  return out;
}

}  // namespace deem::seat
