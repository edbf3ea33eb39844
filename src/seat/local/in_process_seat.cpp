#include "seat/local/in_process_seat.h"

#include <llama.h>

#include <array>

#include "base/digest.h"
#include "seat/local/scored_text.h"
#include "seat/local/thinking.h"
#include "seat/local_seat.h"

namespace deem::seat {

Result<std::unique_ptr<Seat>> make_local_seat(const SeatSpec& spec) {
  auto made = local::InProcessSeat::make(spec);
  if (!made) return fail(made.error());
  return std::unique_ptr<Seat>(std::move(*made));
}

}  // namespace deem::seat

namespace deem::seat::local {
namespace {

double seconds_since(TimePoint start) { return Seconds(Clock::now() - start).count(); }

Usage usage_of(std::size_t prompt, std::size_t cached, const Timing& timing) {
  Usage usage;
  usage.prompt_tokens = static_cast<std::int64_t>(prompt);
  usage.cached_tokens = static_cast<std::int64_t>(cached);
  usage.total_ms = (timing.done_s - timing.sent_s) * 1e3;
  usage.prompt_ms = usage.total_ms;
  return usage;
}

template <class Reply>
std::vector<Result<Reply>> all_failed(std::vector<Result<Reply>> replies, const Error& error) {
  for (Result<Reply>& reply : replies) {
    if (reply) reply = fail(error);
  }
  return replies;
}

}  // namespace

InProcessSeat::InProcessSeat(SeatSpec spec, LoadedModel loaded, Vocabulary vocabulary,
                             ChatTemplate chat, Engine engine)
    : spec_(std::move(spec)),
      loaded_(std::move(loaded)),
      vocabulary_(std::move(vocabulary)),
      chat_(std::move(chat)),
      letters_(vocabulary_, chat_),
      engine_(std::move(engine)) {}

Result<std::unique_ptr<InProcessSeat>> InProcessSeat::make(const SeatSpec& spec) {
  auto loaded = load_model(spec.address, spec.gpu_layers, spec.threads);
  if (!loaded) return fail(loaded.error());
  Vocabulary vocabulary(*loaded->model);
  auto chat = ChatTemplate::load(*loaded->model, vocabulary, spec.chat_template_kwargs);
  if (!chat) return fail(spec.address, chat.error());
  auto engine = Engine::make(*loaded, spec.context, spec.threads);
  if (!engine) return fail(spec.address, engine.error());
  return std::unique_ptr<InProcessSeat>(new InProcessSeat(
      spec, std::move(*loaded), std::move(vocabulary), std::move(*chat), std::move(*engine)));
}

void InProcessSeat::share_prefixes(bool share) {
  const std::scoped_lock lock(mutex_);
  engine_.share_prefixes(share);
}

Result<Identity> InProcessSeat::identify() {
  const std::scoped_lock lock(mutex_);
  if (!digest_) {
    auto digest = sha256_file(spec_.address);
    if (!digest) return fail(digest.error());
    digest_ = "sha256:" + *digest;
  }
  std::array<char, 256> text{};
  Identity identity;
  identity.kind = "local";
  identity.address = spec_.address;
  identity.model = spec_.model;
  if (llama_model_meta_val_str(loaded_.model.get(), "general.name", text.data(), text.size()) > 0) {
    identity.root = text.data();
  }
  identity.digest = digest_;
  identity.build = engine_build();
  identity.context = engine_.context();
  identity.template_sha256 = sha256_hex(chat_.source());
  identity.detail = loaded_.description;
  if (loaded_.full_precision) *identity.detail += ", 32-bit in memory";
  if (!chat_.from_model()) *identity.detail += ", no chat template in the file: ChatML";
  return identity;
}

Result<Capabilities> InProcessSeat::capabilities() {
  Capabilities can;
  can.letters = Capabilities::Letters::FullVocabulary;
  can.top_k = static_cast<int>(vocabulary_.size());
  can.likelihood = true;
  can.census = true;
  can.written = true;
  return can;
}

Result<LetterProof> InProcessSeat::prove_letters(std::size_t n) { return letters_.prove(n); }

Result<Tokens> InProcessSeat::chat_tokens(const std::string& user_turn) const {
  const auto prompt = chat_.render_prompt(user_turn);
  if (!prompt) return fail(prompt.error());
  return prompt_tokens(vocabulary_, *prompt);
}

Result<void> InProcessSeat::check_length(std::size_t tokens) const {
  const auto limit = static_cast<std::size_t>(engine_.context());
  if (tokens == 0) return fail(Error::Code::BadInput, "the prompt holds no token");
  if (tokens <= limit) return {};
  return fail(Error::Code::BadInput, "the prompt has " + std::to_string(tokens) +
                                         " tokens, the context holds " + std::to_string(limit));
}

Result<std::int64_t> InProcessSeat::count_chat(const std::string& user_turn) {
  const std::scoped_lock lock(mutex_);
  const auto tokens = chat_tokens(user_turn);
  if (!tokens) return fail(tokens.error());
  return static_cast<std::int64_t>(tokens->size());
}

Result<std::int64_t> InProcessSeat::count_plain(const std::string& text) {
  return static_cast<std::int64_t>(prompt_tokens(vocabulary_, text).size());
}

Result<TokenIds> InProcessSeat::chat_ids(const std::string& user_turn) {
  const std::scoped_lock lock(mutex_);
  const auto tokens = chat_tokens(user_turn);
  if (!tokens) return fail(tokens.error());
  return TokenIds(tokens->begin(), tokens->end());
}

Result<TokenIds> InProcessSeat::text_ids(const std::string& text, bool special) {
  const Tokens tokens = special ? prompt_tokens(vocabulary_, text) : vocabulary_.tokenize(text);
  return TokenIds(tokens.begin(), tokens.end());
}

Result<std::string> InProcessSeat::text_of(const TokenIds& ids) {
  std::string text;
  for (const std::int64_t id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocabulary_.size()) {
      return fail(Error::Code::BadInput, "no token has the id " + std::to_string(id));
    }
    text += vocabulary_.piece(static_cast<Token>(id));
  }
  return text;
}

Result<Lineage> InProcessSeat::lineage() {
  const auto identity = identify();
  if (!identity) return fail(identity.error());
  Lineage out{.names = {spec_.address}};
  if (identity->root) out.names.push_back(*identity->root);
  out.digest = identity->digest;
  out.loaded = identity->digest;
  return out;
}

/// Every token is evaluated by the model itself.
Result<Counters> InProcessSeat::counters() {
  return Counters{.speculates = false, .text = "this process"};
}

Result<InProcessSeat::Shared> InProcessSeat::run_together(std::span<const TokenPath> paths,
                                                          const Schedule& schedule,
                                                          const Engine::OnScores& on_scores) {
  Shared shared;
  shared.timing.sent_s = seconds_since(schedule.planned);
  const bool shared_before = engine_.shares_prefixes();
  if (schedule.cold) engine_.share_prefixes(false);
  auto evaluated = engine_.evaluate(paths, schedule.deadline, on_scores);
  if (schedule.cold) engine_.share_prefixes(shared_before);
  if (!evaluated) return fail(evaluated.error());
  const double spent = seconds_since(schedule.planned) - shared.timing.sent_s;
  const auto count = static_cast<double>(std::max<std::size_t>(1, paths.size()));
  shared.timing.done_s = shared.timing.sent_s + spent / count;
  shared.timing.first_byte_s = shared.timing.done_s;
  shared.evaluated = std::move(*evaluated);
  tokens_run_ += shared.evaluated.run;
  return shared;
}

std::vector<Result<PositionReply>> InProcessSeat::first_positions(
    std::span<const PositionRequest> requests, const Schedule& schedule) {
  const std::scoped_lock lock(mutex_);
  std::vector<Result<PositionReply>> replies(requests.size());
  std::vector<LetterReader::Ids> ids(requests.size());
  std::vector<TokenPath> paths;
  std::vector<std::size_t> request_of;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const PositionRequest& request = requests[i];
    auto letters = letters_.ids(request.letters, request.policy);
    if (!letters) {
      replies[i] = fail(letters.error());
      continue;
    }
    auto tokens = chat_tokens(request.prompt);
    if (!tokens) {
      replies[i] = fail(tokens.error());
      continue;
    }
    if (auto fits = check_length(tokens->size()); !fits) {
      replies[i] = fail(fits.error());
      continue;
    }
    ids[i] = std::move(*letters);
    const std::size_t last = tokens->size() - 1;
    paths.push_back({std::move(*tokens), {last}});
    request_of.push_back(i);
  }
  const auto shared =
      run_together(paths, schedule, [&](std::size_t path, std::size_t, const ScoreRow& row) {
        const std::size_t i = request_of[path];
        replies[i]->position = letters_.read(row, requests[i], ids[i]);
      });
  if (!shared) return all_failed(std::move(replies), shared.error());
  for (std::size_t p = 0; p < paths.size(); ++p) {
    PositionReply& reply = *replies[request_of[p]];
    reply.timing = shared->timing;
    reply.usage = usage_of(paths[p].tokens.size(), shared->evaluated.cached[p], shared->timing);
  }
  return replies;
}

std::vector<Result<LikelihoodReply>> InProcessSeat::likelihoods(
    std::span<const LikelihoodRequest> requests, const Schedule& schedule) {
  const std::scoped_lock lock(mutex_);
  std::vector<Result<LikelihoodReply>> replies(requests.size());
  std::vector<ScoredText> texts;
  std::vector<TokenPath> paths;
  std::vector<std::size_t> request_of;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto text = make_scored_text(vocabulary_, chat_, requests[i]);
    if (!text) {
      replies[i] = fail(text.error());
      continue;
    }
    if (auto fits = check_length(text->tokens.size()); !fits) {
      replies[i] = fail(fits.error());
      continue;
    }
    paths.push_back(text->path());
    texts.push_back(std::move(*text));
    request_of.push_back(i);
  }
  // Summed in token order at the end, so that the order of evaluation does not show in the sum.
  std::vector<std::vector<double>> logprobs(texts.size());
  for (std::size_t p = 0; p < texts.size(); ++p) logprobs[p].resize(texts[p].scored());
  const auto shared =
      run_together(paths, schedule, [&](std::size_t path, std::size_t index, const ScoreRow& row) {
        const ScoredText& text = texts[path];
        logprobs[path][index + 1 - text.first] = row.logprob(text.tokens[index + 1]);
      });
  if (!shared) return all_failed(std::move(replies), shared.error());
  for (std::size_t p = 0; p < paths.size(); ++p) {
    LikelihoodReply& reply = *replies[request_of[p]];
    for (const double logprob : logprobs[p]) reply.text.sum += logprob;
    reply.text.tokens = texts[p].scored();
    reply.text.bytes = texts[p].bytes;
    reply.timing = shared->timing;
    reply.usage =
        usage_of(texts[p].tokens.size(),
                 std::min(shared->evaluated.cached[p], texts[p].tokens.size()), shared->timing);
  }
  return replies;
}

Result<PositionReply> InProcessSeat::first_position(const PositionRequest& request,
                                                    const Schedule& schedule) {
  return std::move(first_positions({&request, 1}, schedule)[0]);
}

Result<LikelihoodReply> InProcessSeat::likelihood(const LikelihoodRequest& request,
                                                  const Schedule& schedule) {
  return std::move(likelihoods({&request, 1}, schedule)[0]);
}

Result<WriteReply> InProcessSeat::write(const WriteRequest& request, const Schedule& schedule) {
  const std::scoped_lock lock(mutex_);
  if (request.max_tokens < 1) {
    return fail(Error::Code::BadInput, "max tokens: must be at least 1");
  }
  auto prompt = chat_tokens(request.prompt);
  if (!prompt) return fail(prompt.error());
  if (auto fits = check_length(prompt->size()); !fits) return fail(fits.error());
  WriteReply reply;
  reply.timing.sent_s = seconds_since(schedule.planned);
  const bool shared_before = engine_.shares_prefixes();
  if (schedule.cold) engine_.share_prefixes(false);
  const auto written =
      engine_.write(*prompt, static_cast<std::size_t>(request.max_tokens), schedule.deadline,
                    [&](Token token) { return vocabulary_.ends_turn(token); });
  if (schedule.cold) engine_.share_prefixes(shared_before);
  if (!written) return fail(written.error());
  std::string text;
  for (const Token token : written->tokens) text += vocabulary_.piece(token);
  SplitReply split = split_thinking(text, chat_.opens_thinking());
  reply.text = std::move(split.answer);
  reply.thinking = std::move(split.thinking);
  reply.timing.done_s = seconds_since(schedule.planned);
  reply.timing.first_byte_s = reply.timing.done_s;
  reply.usage = usage_of(prompt->size(), written->cached, reply.timing);
  reply.usage.prompt_ms.reset();
  reply.usage.output_tokens = static_cast<std::int64_t>(written->tokens.size());
  reply.usage.finish_reason = written->ended ? "stop" : "length";
  tokens_run_ += prompt->size() - written->cached + written->tokens.size();
  return reply;
}

}  // namespace deem::seat::local
