#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "bench/ask.h"
#include "bench/calibration.h"
#include "bench/prompts.h"
#include "cli/flag_ranges.h"
#include "cli/show_score.h"
#include "cli/verbs.h"
#include "kit/draft.h"
#include "seat/seat.h"

namespace deem::cli {
namespace {

struct AskFlags {
  std::string seat, model, state, state_file, question, type = "choice", policy, key_env, key_file;
  std::vector<std::string> options, readings;
  std::string given, score, calibration, task;
  bool json = false, generate = false;
  double timeout = 120;
  std::int64_t context = 0;
  int threads = 0;
};

void add_flags(CLI::App& app, AskFlags& flags) {
  app.add_option("--seat", flags.seat, seat::seat_forms())->required();
  app.add_option("--model", flags.model, "served name");
  app.add_option("--state", flags.state, "what is judged");
  app.add_option("--state-file", flags.state_file, "a file that holds it; - for stdin");
  app.add_option("--question", flags.question, "what is asked")->required();
  app.add_option("--option", flags.options,
                 "key=description, repeatable; noul: yes and no when absent");
  app.add_option("--type", flags.type, "choice (default), noul or score (options lowest first)");
  app.add_option(
      "--reading", flags.readings,
      "letters (default), words, words-unlisted, likelihood (with --given and --score); native of "
      "a decision endpoint, its only one");
  app.add_option("--given", flags.given,
                 "likelihood: template of what stands before, \"{state}\\nTopic:\"");
  app.add_option("--score", flags.score,
                 "likelihood: template of what is scored, \" {description}\"");
  app.add_flag("--generate", flags.generate, "let it write its answer instead");
  app.add_option("--policy", flags.policy, "letters: exact (default), sum-exact, fold, reference");
  app.add_option("--calibration", flags.calibration,
                 "a fit file of calibrate or choose, for this model");
  app.add_option("--task", flags.task, "the task whose constants are meant, where it has several");
  app.add_option("--context", flags.context, "context to ask the seat for, tokens");
  app.add_option("--threads", flags.threads, "of a local seat")->check(thread_count());
  app.add_option("--timeout", flags.timeout, "seconds a request may take")
      ->check(seconds_of_a_request());
  app.add_option("--key-env", flags.key_env, "environment variable that holds the bearer key");
  app.add_option("--key-file", flags.key_file, "file that holds the bearer key");
  app.add_flag("--json", flags.json, "the whole row and its answers as JSON");
}

constexpr std::size_t kMostStateBytes = 64 << 20;

Result<std::string> read_state(const AskFlags& flags) {
  if (flags.state_file.empty()) return flags.state;
  return read_file(flags.state_file == "-" ? "/dev/stdin" : flags.state_file, kMostStateBytes);
}

Result<void> check_text(std::string_view what, std::string_view text) {
  if (!is_utf8(text)) return fail(Error::Code::BadInput, std::string(what) + ": not UTF-8");
  if (text.find('\0') == std::string_view::npos) return {};
  return fail(Error::Code::BadInput, std::string(what) + ": holds a NUL");
}

/// Flags that contradict each other, and texts a kit would refuse.
Result<void> check_flags(const AskFlags& flags) {
  const auto wrong = [](const char* what) { return fail(Error::Code::BadInput, what); };
  if (!flags.state.empty() && !flags.state_file.empty()) {
    return wrong("--state and --state-file: one of them");
  }
  if (flags.generate && !flags.readings.empty()) return wrong("--generate takes no --reading");
  const bool by_text = !flags.given.empty() || !flags.score.empty();
  if (by_text && std::ranges::find(flags.readings, "likelihood") == flags.readings.end() &&
      std::ranges::find(flags.readings, "likelihood+prior") == flags.readings.end()) {
    return wrong("--given and --score are for --reading likelihood");
  }
  if (trim(flags.question).empty()) return wrong("--question: nothing is asked");
  if (Result<void> text = check_text("--question", flags.question); !text) return text;
  for (const std::string& option : flags.options) {
    if (Result<void> text = check_text("--option", option); !text) return text;
  }
  return {};
}

/// A kit of one item.
Result<kit::Kit> make_kit(const AskFlags& flags) {
  const auto type = decision::parse_question_type(flags.type);
  if (!type) return fail(Error::Code::BadInput, "--type " + flags.type + ": choice, noul or score");
  if (Result<void> sound = check_flags(flags); !sound) return fail(sound.error());
  Result<std::string> state = read_state(flags);
  if (!state) return fail(state.error());
  if (Result<void> text = check_text("the state", *state); !text) return fail(text.error());
  kit::Item item;
  item.id = "ask";
  item.question = {*type, flags.question, flags.question, {}};
  std::vector<std::string> options = flags.options;
  if (options.empty() && *type == decision::QuestionType::Noul) {
    options = {"yes=The statement is true.", "no=The statement is false."};
  }
  for (const std::string& text : options) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    for (const auto& other : item.question.options) {
      if (other.key == key) return fail(Error::Code::BadInput, "--option " + key + ": given twice");
    }
    item.question.options.push_back(
        {key, equals == std::string::npos ? "" : text.substr(equals + 1), ""});
  }
  const std::size_t n = item.question.options.size();
  if (n == 0 || (*type == decision::QuestionType::Noul && n != 2)) {
    return fail(Error::Code::BadInput, n == 0 ? "no options; give --option key=description for each"
                                              : "noul takes two options, yes first");
  }
  if (const auto problems = kit::option_problems(item.question.options, *type); !problems.empty()) {
    return fail(Error::Code::BadInput, "--option: " + problems.front());
  }
  kit::Kit kit;
  kit.layout = decision::reference_layout();
  kit.states.push_back({"state", *state, sha256_hex(*state), {}});
  kit::Task task;
  task.name = flags.task.empty() ? "ask" : flags.task;
  task.type = *type;
  if (!flags.given.empty() || !flags.score.empty()) {
    kit::LikelihoodReading reading;
    reading.name = "likelihood";
    Result<decision::Template> given = decision::Template::parse(flags.given);
    Result<decision::Template> score = decision::Template::parse(flags.score);
    if (!given) return fail("--given", given.error());
    if (!score) return fail("--score", score.error());
    reading.given = std::move(*given);
    reading.score = std::move(*score);
    reading.empty = task.empty;
    task.readings.push_back(std::move(reading));
  }
  task.items.push_back(std::move(item));
  kit.tasks.push_back(std::move(task));
  return kit;
}

Result<bench::Arm> make_arm(const AskFlags& flags, const kit::Task& task) {
  bench::Arm arm;
  arm.name = "ask";
  std::vector<std::pair<std::string_view, codec::Json>> members = {
      {"seat", flags.seat},        {"model", flags.model},     {"context", flags.context},
      {"threads", flags.threads},  {"timeout", flags.timeout}, {"key-env", flags.key_env},
      {"key-file", flags.key_file}};
  if (flags.generate) members.emplace_back("mode", "generate");
  if (!flags.policy.empty()) members.emplace_back("policy", flags.policy);
  if (!flags.calibration.empty()) members.emplace_back("calibration", flags.calibration);
  if (!flags.readings.empty() && !flags.generate) {
    codec::Json names = codec::Json::array();
    for (const std::string& name : flags.readings) names.push(name);
    members.emplace_back("readings", std::move(names));
  }
  for (const auto& [key, value] : members) {
    if (Result<void> set = bench::set_arm_member(arm, key, value); !set) return fail(set.error());
  }
  if (Result<void> good = bench::check_arm(arm); !good) return fail(good.error());
  for (const auto& choice : arm.readings) {
    if (!bench::find_reading(task, choice.name)) {
      return fail(Error::Code::BadInput,
                  "--reading " + choice.name +
                      ": letters, words, words-unlisted, or likelihood with --given and --score");
    }
  }
  return arm;
}

}  // namespace

int run_ask(const Args& args) {
  CLI::App app(
      "One decision, one seat.\n\n"
      "  deem ask --seat local:model.gguf --state 'My card never came.' --question 'What is it "
      "about?' \\\n"
      "    --option 'card=a card that did not arrive' --option 'fee=a fee' --reading likelihood "
      "\\\n"
      "    --given 'A customer wrote: \"{state}\"\\nIt is about:' --score ' {description}'\n",
      "deem ask");
  AskFlags flags;
  add_flags(app, flags);
  if (const auto code = parse(app, args)) return *code;
  const Result<kit::Kit> kit = make_kit(flags);
  if (!kit) return report_error(kit.error());
  const Result<bench::Arm> arm = make_arm(flags, kit->tasks[0]);
  if (!arm) return report_error(arm.error());
  bench::Config config;
  config.arms = {*arm};
  if (Result<void> loaded = bench::load_fits(config); !loaded) return report_error(loaded.error());
  const record::Fit& fit = config.arms.front().fit;
  Result<std::unique_ptr<seat::Seat>> seat = seat::make_seat(arm->seat);
  if (!seat) return report_error(seat.error());
  const Result<seat::Identity> identity = (*seat)->identify();
  if (!identity) return report_error(identity.error());
  if (Result<void> suits = bench::check_fit(config.arms.front(), *identity, *kit); !suits)
    return report_error(suits.error());
  bench::PriorMemo memo;
  const bench::Census census;
  const bench::Asker asker(*kit, census, *identity, **seat, memo);
  const record::Row row = asker.ask(*arm, {0, 0, {0}, 0}).front();
  const record::Fit* applied = arm->calibration.empty() ? nullptr : &fit;
  if (applied != nullptr && !any_fitted(row, fit)) {
    fmt::print(stderr,
               "note: calibration {} has no entry for any answer here; none is calibrated\n",
               printable(fit.name, 80));
  }
  if (flags.json) {
    fmt::print("{}\n", answers_json(row, applied));
    return answers_code(row);
  }
  return print_answers(row, applied);
}

}  // namespace deem::cli
