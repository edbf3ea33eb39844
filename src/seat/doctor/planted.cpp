#include "seat/doctor/planted.h"

#include <algorithm>

namespace deem::seat {
namespace {

using enum ServerKind;

const std::vector<ServerKind> kAll = {Vllm, Ollama, LlamaServer, OpenAi};
const std::vector<ServerKind> kTokenizers = {Vllm, LlamaServer};
const std::vector<ServerKind> kChats = {Vllm, OpenAi};
/// Those whose number of entries is asked by k.
const std::vector<ServerKind> kTop = {Ollama, OpenAi};

bool holds(const std::vector<ServerKind>& kinds, ServerKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

std::vector<Planted> make_planted() {
  using enum Family;
  using enum RowFate;
  FakeOptions drafts;
  drafts.speculates = true;
  FakeOptions small;
  small.context = 2048;
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
      {"LogTen", Fault::LogTen, Values, "logprobs", "base of 10", Void, kAll, {}},
      {"LogTwo", Fault::LogTwo, Values, "logprobs", "base of 2", Passes, {LlamaServer}, {}},
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
      {"CacheDrift", Fault::CacheDrift, Again, "prefix-cache", "seen before", Passes, kAll, {}},
      {"PadInMix", Fault::PadInMix, Again, "mixed", "top k beside exact ids", Void, {Vllm}, {}},
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
      {"MultiCharacter", Fault::MultiCharacter, First, "template", "longer word", Void, kAll, {}},
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
       "asked, 5 came|asked 22 did not come back",
       Passes,
       kAll,
       {}},
      {"IdsDropped", Fault::IdsDropped, Count, "depth", "did not come back", Passes, {Vllm}, {}},
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
      {"OverlongCut", Fault::OverlongCut, Service, "overlong", "cuts silently", Passes, kAll,
       small},
      {"OverlongInvented",
       Fault::OverlongInvented,
       Service,
       "overlong",
       "does not tell",
       Passes,
       {Vllm, LlamaServer, Ollama},
       small},
      {"OverlongSmaller", Fault::OverlongSmaller, Service, "overlong", "refuses by", Passes,
       kTokenizers, small},
      {"DoubleBos", Fault::DoubleBos, Prompt, "tokenizer", "twice", Passes, kTokenizers, {}},
      {"MissingBos", Fault::MissingBos, Prompt, "tokenizer", "begins without", Passes, {Vllm}, {}},
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
       Service,
       "letters",
       "same token",
       Refused,
       kTokenizers,
       {}},
      {"WrongModel", Fault::WrongModel, Service, "identity", "some-other-model", Noted, kAll, {}},
      {"AnyName",
       Fault::AnyName,
       Service,
       "identity",
       "does not serve",
       Passes,
       {Vllm, Ollama, OpenAi},
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
  static const std::vector<Planted> faults = make_planted();
  return faults;
}

bool hides(const Planted& a, const Planted& b) {
  const auto is = [](const Planted& one, std::initializer_list<Family> families) {
    return std::ranges::find(families, one.family) != families.end();
  };
  switch (a.family) {
    case Family::Reply:
      return b.family != Family::Prompt;
    case Family::Shape:
      return !is(b, {Family::Prompt, Family::Service, Family::Reply});
    case Family::Values:
      return is(b, {Family::Values, Family::First, Family::Written, Family::Again});
    case Family::First:
      return is(b, {Family::First, Family::Written, Family::Again});
    case Family::Written:
    case Family::Again:
    case Family::Count:
      return a.family == b.family;
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
  out.context = std::min(out.context, b.options.context);
  return out;
}

std::vector<Healthy> healthy_servers() {
  std::vector<Healthy> out = {{"Plain", kAll, {}, {}}, {"Chunked", kAll, {}, {Fault::Chunked}}};
  const auto add = [&](const char* name, const std::vector<ServerKind>& kinds, auto&& set) {
    Healthy one{.name = name, .kinds = kinds, .options = {}, .harmless = {}};
    set(one.options);
    out.push_back(std::move(one));
  };
  add("Bos", kAll, [](FakeOptions& o) { o.bos = true; });
  add("SmallContext", kAll, [](FakeOptions& o) { o.context = 1024; });
  add("LongContext", kAll, [](FakeOptions& o) { o.context = 60'000; });
  add("Drafts", kTokenizers, [](FakeOptions& o) { o.speculates = true; });
  add("FiveEntries", kChats, [](FakeOptions& o) { o.max_top_k = 5; });
  add("WithoutExactIds", {Vllm}, [](FakeOptions& o) { o.exact_ids = false; });
  add("WithoutTokenizer", {Vllm}, [](FakeOptions& o) { o.tokenizer = false; });
  add("HugeLists", {Vllm}, [](FakeOptions& o) { o.max_top_k = -1; });
  add("NotLoaded", {Ollama}, [](FakeOptions& o) { o.resident = false; });
  add("WithoutLogprobs", {OpenAi}, [](FakeOptions& o) { o.returns_logprobs = false; });
  add("OtherTokenLimit", {OpenAi}, [](FakeOptions& o) { o.completion_tokens_only = true; });
  add("ThreeThreads", kAll, [](FakeOptions& o) { o.threads = 3; });
  return out;
}

}  // namespace deem::seat
