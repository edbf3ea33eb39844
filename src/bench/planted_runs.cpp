#include "bench/planted_runs.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/digest.h"
#include "base/file.h"
#include "bench/test_folder.h"
#include "bench/test_kit.h"
#include "record/rows_file.h"

namespace deem::bench {
namespace {

using record::ReadingRecord;
using record::Row;
using seat::FakeOptions;
using seat::FakeServer;
using seat::ServerKind;

class Starter : public Observer {
 public:
  Starter(FakeServer& server, const Case& one) : server_(server), case_(one) {}
  void stage(const std::string&) override {}
  void announce(const Announcement&) override {
    if (!case_.later.empty()) server_.set_faults(case_.later);
    if (case_.options.answers_on) *case_.options.answers_on = true;
  }
  void row(const Row&, const Progress&) override {}
  void note(const std::string&) override {}

 private:
  FakeServer& server_;
  const Case& case_;
};

kit::Kit planted_kit(bool overlong) {
  kit::Kit kit = small_kit();
  if (!overlong) return kit;
  std::string text = "The west gate opens at ten.";
  while (text.size() < 1500) text += " It is a gate of oak.";
  kit.states.push_back({"west", text, sha256_hex(text), {}});
  kit::Item item = kit.tasks[0].items[0];
  item.id = "long";
  item.state = kit.states.size() - 1;
  kit.tasks[0].items.push_back(std::move(item));
  return kit;
}

bool is_native(ServerKind kind) {
  return kind == ServerKind::SystemOne || kind == ServerKind::Decisions;
}

std::vector<Arm> arms_of(const Case& one, const seat::SeatSpec& spec) {
  const std::map<std::string, std::string> readings = {{"read", "letters"}, {"write", "written"}};
  std::vector<Arm> out;
  for (const std::string& name : arm_names(one)) {
    const auto reading = readings.find(name);
    out.push_back(small_arm(name, {{reading == readings.end() ? name : reading->second, false}}));
    out.back().seat = spec;
  }
  return out;
}

Ran run_on(const Case& one) {
  Ran out;
  const TestFolder folder;
  Config config;
  config.kit = join_path(folder.path(), "kit");
  config.out = join_path(folder.path(), "run");
  config.concurrency = one.concurrency;
  config.doctor = one.doctor;
  config.power.off = true;
  EXPECT_TRUE(kit::freeze_kit(planted_kit(one.overlong), config.kit));
  FakeOptions options = one.options;
  options.faults.insert(options.faults.end(), one.faults.begin(), one.faults.end());
  // Whose port on this machine it is takes longer to find out than all else.
  options.address = "unix:" + join_path(folder.path(), "s");
  auto server = FakeServer::start(one.kind, std::move(options));
  if (!server) {
    ADD_FAILURE() << server.error().message;
    return out;
  }
  seat::SeatSpec spec = server->seat();
  spec.timeout_s = one.timeout_s;
  config.arms = arms_of(one, spec);
  Starter observer(*server, one);
  auto outcome = run(config, {}, seat::make_seat, observer, {});
  if (!outcome) {
    out.error = outcome.error().message;
    return out;
  }
  out.outcome = std::move(*outcome);
  if (!out.outcome.began) return out;
  const auto rows = record::load_rows(join_path(config.out, "rows.jsonl"));
  auto record = record::load_run(config.out);
  EXPECT_TRUE(rows && record);
  if (!rows || !record) return out;
  for (const Row& row : rows->rows) out.rows[row.arm + "/" + row.task + "/" + row.id] = row;
  out.record = std::move(*record);
  return out;
}

bool same_letters(const std::vector<ReadingRecord::Round>& a,
                  const std::vector<ReadingRecord::Round>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.letters.logprobs == y.letters.logprobs && x.letters.bound == y.letters.bound &&
           x.letters.mass_letters == y.letters.mass_letters;
  });
}

}  // namespace

bool same_answer(const Row& a, const Row& b) {
  if (a.status != b.status || a.readings.size() != b.readings.size()) return false;
  for (const auto& [name, x] : a.readings) {
    const auto found = b.readings.find(name);
    if (found == b.readings.end()) return false;
    const ReadingRecord& y = found->second;
    if (x.cause != y.cause || x.error.has_value() != y.error.has_value() || x.texts != y.texts ||
        x.reply != y.reply || x.native.probs != y.native.probs ||
        x.native.choice != y.native.choice || !same_letters(x.rounds, y.rounds)) {
      return false;
    }
  }
  return true;
}

bool reads_likelihood(ServerKind kind) {
  return kind == ServerKind::Vllm || kind == ServerKind::LlamaServer || kind == ServerKind::Sglang;
}

std::vector<std::string> arm_names(const Case& one) {
  if (is_native(one.kind)) return {"native"};
  std::vector<std::string> out = one.arms;
  if (!reads_likelihood(one.kind)) std::erase(out, "cloze");
  return out;
}

std::vector<Ran> run_all(const std::vector<Case>& cases) {
  std::vector<Ran> out(cases.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (int worker = 0; worker < 6; ++worker) {
    workers.emplace_back([&] {
      for (std::size_t i = next++; i < cases.size(); i = next++) out[i] = run_on(cases[i]);
    });
  }
  workers.clear();  // joins
  return out;
}

}  // namespace deem::bench
