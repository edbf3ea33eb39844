// Twenty questions on one state of about 800 tokens, read by a model in this process, against two
// marks taken in the same run: the prompt rate of llama.cpp's own llama-bench on the same file, and
// the same questions asked one by one without sharing.
//
//   DEEM_MODEL=model.gguf DEEM_LLAMA_BENCH=path/to/llama-bench local_bench
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/process.h"
#include "seat/local/in_process_seat.h"

namespace {

using namespace deem;
using seat::PositionReply;
using seat::PositionRequest;
using seat::local::InProcessSeat;

constexpr int kQuestions = 20;
constexpr int kRounds = 3;
constexpr std::int64_t kStateTokens = 800;

std::vector<PositionRequest> make_questions(InProcessSeat& seat) {
  std::string state;
  for (int hour = 1; *seat.count_plain(state) < kStateTokens; ++hour) {
    state += fmt::format(
        "In hour {} the keeper wrote: wind from the south-west, the lamp lit, "
        "{} ships in sight. ",
        hour, hour * 7 % 12);
  }
  std::vector<PositionRequest> questions;
  for (int i = 0; i < kQuestions; ++i) {
    PositionRequest request;
    request.prompt = fmt::format(
        "State:\n{}\n\nQuestion: How many ships were in sight in hour {}?\nOptions:\n[A] none: no "
        "ship\n[B] few: one to four\n[C] some: five to eight\n[D] many: nine or more\n\nAnswer "
        "with the letter of the best option only.",
        state, i + 1);
    request.letters = 4;
    questions.push_back(std::move(request));
  }
  return questions;
}

// Tokens a second by llama-bench for one prompt of `tokens`.
double llama_bench_rate(const std::string& program, const std::string& model, std::size_t tokens) {
  const auto run = run_process({.argv = {program, "-m", model, "-p", std::to_string(tokens), "-n",
                                         "0", "-r", "1", "-o", "json"},
                                .environment = own_environment()},
                               Seconds(600));
  if (!run || !run->ending.succeeded()) {
    fmt::print(stderr, "{}: {}\n", program, run ? run->errors : run.error().message);
    return std::nan("");
  }
  double best = std::nan("");
  const std::string& text = run->output;
  std::size_t at = text.find("\"samples_ts\"");
  const std::size_t end = text.find(']', at);
  for (at = text.find('[', at); at < end; at = text.find(',', at + 1)) {
    const std::size_t number = text.find_first_of("0123456789", at);
    double rate = 0;
    std::from_chars(text.data() + number, text.data() + text.size(), rate);
    best = std::fmax(best, rate);
  }
  return best;
}

struct Measured {
  double seconds = 0;
  std::size_t tokens = 0;
  std::vector<double> probabilities;
};

void collect(Measured& measured, const Result<PositionReply>& reply) {
  if (!reply) {
    fmt::print(stderr, "local: {}\n", reply.error().message);
    std::exit(1);
  }
  for (const auto& logprob : reply->position.exact) {
    measured.probabilities.push_back(std::exp(*logprob));
  }
}

Measured ask(InProcessSeat& seat, const std::vector<PositionRequest>& questions, bool together) {
  seat.share_prefixes(together);  // and forgets what it holds
  Measured measured;
  const std::size_t before = seat.tokens_run();
  const TimePoint start = Clock::now();
  std::vector<Result<PositionReply>> replies;
  if (together) {
    replies = seat.first_positions(questions, {});
  } else {
    for (const PositionRequest& question : questions) {
      replies.push_back(seat.first_position(question, {}));
    }
  }
  measured.seconds = Seconds(Clock::now() - start).count();
  measured.tokens = seat.tokens_run() - before;
  for (const auto& reply : replies) collect(measured, reply);
  return measured;
}

}  // namespace

int main() {
  const char* model = std::getenv("DEEM_MODEL");
  const char* llama_bench = std::getenv("DEEM_LLAMA_BENCH");
  if (model == nullptr || llama_bench == nullptr) {
    fmt::print(stderr,
               "local_bench: set DEEM_MODEL and DEEM_LLAMA_BENCH (tools/fetch-model, "
               "tools/fetch-llama --tools)\n");
    return 2;
  }
  seat::SeatSpec spec;
  spec.kind = "local";
  spec.address = model;
  spec.context = 4096;
  auto made = InProcessSeat::make(spec);
  if (!made) {
    fmt::print(stderr, "local_bench: {}\n", made.error().message);
    return 1;
  }
  InProcessSeat& seat = **made;
  const std::vector<PositionRequest> questions = make_questions(seat);
  ask(seat, questions, true);  // touches all memory once

  Measured shared;
  double rate_512 = 0;
  double rate_same = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Measured now = ask(seat, questions, true);
    if (round == 0 || now.seconds < shared.seconds) shared = now;
    rate_512 = std::fmax(rate_512, llama_bench_rate(llama_bench, model, 512));
    rate_same = std::fmax(rate_same, llama_bench_rate(llama_bench, model, shared.tokens));
  }
  const Measured alone = ask(seat, questions, false);
  double difference = 0;
  for (std::size_t i = 0; i < alone.probabilities.size(); ++i) {
    difference = std::fmax(difference, std::fabs(alone.probabilities[i] - shared.probabilities[i]));
  }

  const double rate = static_cast<double>(shared.tokens) / shared.seconds;
  fmt::print("model               {}\n", *seat.identify()->detail);
  fmt::print("shared              {} questions, {} tokens run, {:.2f} s, {:.0f} tokens/s\n",
             kQuestions, shared.tokens, shared.seconds, rate);
  fmt::print("alone               {} tokens run, {:.2f} s\n", alone.tokens, alone.seconds);
  fmt::print("llama-bench         {:.0f} tokens/s on 512 tokens, {:.0f} on {}\n", rate_512,
             rate_same, shared.tokens);
  fmt::print("ratio to the limit  {:.2f} (pp512; at least 0.9), {:.2f} (pp{})\n", rate / rate_512,
             rate / rate_same, shared.tokens);
  fmt::print("ratio to alone      {:.1f} (at least 5)\n", alone.seconds / shared.seconds);
  fmt::print("largest difference  {:.1e} in probability, shared and alone\n", difference);
  return 0;
}
