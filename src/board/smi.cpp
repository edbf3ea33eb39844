#include <algorithm>
#include <map>
#include <mutex>

#include "base/process.h"
#include "base/text.h"
#include "board/smi_text.h"
#include "board/sources.h"

namespace deem::board {
namespace {

constexpr std::string_view kFormat = "--format=csv,noheader,nounits";

/// How a program that did not succeed ended.
std::string words(const Ending& ending) {
  return ending.signal != 0 ? "was killed by signal " + std::to_string(ending.signal)
                            : "ended with exit code " + std::to_string(ending.code);
}

/// The first line a program said, of both streams; how it ended when it said nothing.
std::string first_line(const Finished& done) {
  for (const std::string* stream : {&done.output, &done.errors}) {
    for (const std::string_view line : split(*stream, '\n')) {
      if (!trim(line).empty()) return printable(trim(line), 200);
    }
  }
  return "said nothing and " + words(done.ending);
}

class SmiSource : public Source {
 public:
  SmiSource(std::string program, Seconds patience)
      : program_(std::move(program)), patience_(patience) {}

  /// Finds out which fields there are, and which query works. Errors: as open_smi.
  Result<void> begin() {
    const Result<Finished> help = ask({"--help-query-gpu"});
    // What is not there, or hangs, need not be asked again.
    if (!help && help.error().code != Error::Code::Unavailable) return fail(help.error());
    const auto known = help ? parse_smi_help(help->output) : std::set<std::string, std::less<>>{};
    if (known.contains("uuid") || known.contains("gpu_uuid")) {
      list_query_ = make_smi_query(smi_list_fields(), known);
      read_query_ = make_smi_query(smi_read_fields(), known);
      if (query(list_query_)) return {};
    }
    Error why;
    for (const int which : {0, 1}) {
      list_query_ = read_query_ = reference_smi_query(which);
      Result<SmiTable> table = query(list_query_);
      if (table) return {};
      why = table.error();
    }
    return fail(std::move(why));
  }

  std::string_view kind() const override { return "nvidia-smi"; }
  double least_period_s() const override { return 1; }

  std::vector<BoardInfo> list() override {
    std::vector<BoardInfo> out;
    Result<SmiTable> table = query(list_query_);
    std::vector<Check> problems;
    if (table) {
      for (const SmiLine& line : table->lines) {
        BoardInfo board = smi_board(line);
        if (std::ranges::find(out, board.id, &BoardInfo::id) == out.end()) {
          out.push_back(std::move(board));
        } else {
          table->problems.push_back("lists " + board.id + " twice");
        }
      }
      find_instances(out, problems);
      for (std::string& problem : table->problems) {
        problems.push_back({"reach", "", Check::Verdict::Finding, "nvidia-smi: " + problem});
      }
    } else {
      problems.push_back({"reach", "", Check::Verdict::Finding, table.error().message});
    }
    const std::scoped_lock lock(mutex_);
    // A board that was there and is no longer listed stays, with its error.
    for (const BoardInfo& before : boards_) {
      if (std::ranges::find(out, before.id, &BoardInfo::id) != out.end()) continue;
      BoardInfo lost;
      lost.id = before.id;
      lost.name = before.name;
      lost.pci = before.pci;
      lost.source = before.source;
      lost.error = "nvidia-smi does not list it any more";
      out.push_back(std::move(lost));
    }
    boards_ = out;
    problems_ = std::move(problems);
    return out;
  }

  Readings read(std::span<const std::string> ids) override {
    Readings out;
    const Result<SmiTable> table = query(read_query_);
    for (const std::string& id : ids) {
      record::PowerReading reading;
      std::string error = table ? "nvidia-smi does not list it" : table.error().message;
      if (table) {
        for (const SmiLine& line : table->lines) {
          if (line.text("uuid") != id) continue;
          reading = smi_reading(line);
          error = line.error;
        }
      }
      out.boards.push_back(reading);
      out.errors.push_back(std::move(error));
    }
    return out;
  }

  std::vector<BoardProcess> processes(std::span<const std::string> ids) override {
    // The name comes last, as it may hold commas.
    const Result<Finished> done = ask(
        {"--query-compute-apps=gpu_uuid,pid,used_gpu_memory,process_name", std::string(kFormat)});
    std::vector<BoardProcess> out;
    std::vector<Check> problems;
    const auto unknown = [&](const std::string& why) {
      if (!problems.empty()) return;
      problems.push_back({"memory", "", Check::Verdict::NotMeasured,
                          "nvidia-smi lists no processes, or not all: " + why});
    };
    if (!done) {
      unknown(done.error().message);
    } else {
      const SmiTable table = parse_smi_csv(done->output, {"uuid", "pid", "used", "name"});
      if (!table.problems.empty()) unknown(table.problems.front());
      for (const SmiLine& line : table.lines) append(line, ids, out, unknown);
    }
    const std::scoped_lock lock(mutex_);
    process_problems_ = std::move(problems);
    return out;
  }

  std::vector<Check> checks() override {
    const std::scoped_lock lock(mutex_);
    std::string driver;
    for (const BoardInfo& board : boards_) driver = driver.empty() ? board.driver : driver;
    std::vector<Check> out = {{"driver", "", Check::Verdict::Ok,
                               "nvidia-smi, driver " +
                                   (driver.empty() ? "of unknown version" : driver) +
                                   "; it tells no energy counter"}};
    out.insert(out.end(), problems_.begin(), problems_.end());
    out.insert(out.end(), process_problems_.begin(), process_problems_.end());
    return out;
  }

 private:
  Result<Finished> run(std::vector<std::string> arguments) const {
    Command command;
    command.argv = std::move(arguments);
    command.argv.insert(command.argv.begin(), program_);
    command.environment = own_environment();
    return run_process(std::move(command), patience_);
  }

  /// A run that has to succeed. Errors: as run_process, Unavailable.
  Result<Finished> ask(std::vector<std::string> arguments) const {
    Result<Finished> done = run(std::move(arguments));
    if (done && !done->ending.succeeded()) {
      return fail(Error::Code::Unavailable, program_ + ": " + first_line(*done));
    }
    return done;
  }

  /// One line of processes: of a board, or of an instance of one.
  template <class Unknown>
  void append(const SmiLine& line, std::span<const std::string> ids, std::vector<BoardProcess>& out,
              const Unknown& unknown) {
    BoardProcess process;
    process.board = line.text("uuid").value_or("");
    if (process.board.starts_with("MIG-")) {
      process.instance = process.board;
      const std::scoped_lock lock(mutex_);
      const auto of = instances_.find(process.instance);
      if (of == instances_.end()) return unknown("no board has " + process.instance);
      process.board = of->second;
    }
    if (std::ranges::find(ids, process.board) == ids.end()) return;
    const auto pid = line.integer("pid");
    if (!pid) return unknown("a process on " + process.board + " has no number");
    process.pid = *pid;
    process.used_mib = line.number("used");
    process.command = line.text("name").value_or("");
    out.push_back(std::move(process));
  }

  /// The MIG instances of boards that have any.
  void find_instances(std::vector<BoardInfo>& boards, std::vector<Check>& problems) {
    if (std::ranges::none_of(boards, [](const BoardInfo& b) { return b.mig.value_or(false); })) {
      return;
    }
    const Result<Finished> done = ask({"-L"});
    if (!done) {
      problems.push_back({"reach", "", Check::Verdict::NotMeasured,
                          "the MIG instances are not told: " + done.error().message});
      return;
    }
    const std::scoped_lock lock(mutex_);
    instances_.clear();
    for (auto& [id, instance] : parse_smi_instances(done->output)) {
      const auto board = std::ranges::find(boards, id, &BoardInfo::id);
      if (board == boards.end()) continue;
      instances_[instance.id] = id;
      board->instances.push_back(std::move(instance));
    }
  }

  /// The rows of a query. A program that fails may have told of the boards it could reach before.
  /// Errors: Unavailable when it printed no board at all.
  Result<SmiTable> query(const SmiQuery& what) const {
    const Result<Finished> done = run({what.argument(), std::string(kFormat)});
    if (!done) return fail(done.error());
    SmiTable table = parse_smi_csv(done->output, what.keys);
    if (table.lines.empty()) {
      return fail(Error::Code::Unavailable, program_ + ": " + first_line(*done));
    }
    if (!done->ending.succeeded() && table.problems.empty()) {
      table.problems.push_back(words(done->ending));
    }
    return table;
  }

  const std::string program_;
  const Seconds patience_;
  SmiQuery list_query_, read_query_;
  std::mutex mutex_;  // guards what follows
  std::vector<BoardInfo> boards_;
  std::vector<Check> problems_, process_problems_;
  std::map<std::string, std::string, std::less<>> instances_;  // of MIG: their boards
};

}  // namespace

Result<std::unique_ptr<Source>> open_smi(const std::string& program, Seconds patience) {
  auto source = std::make_unique<SmiSource>(program.empty() ? "nvidia-smi" : program, patience);
  if (Result<void> begun = source->begin(); !begun) return fail(begun.error());
  return source;
}

}  // namespace deem::board
