#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "codec/json.h"
#include "record/fit.h"
#include "record/rows_file.h"
#include "record/run.h"

namespace deem {
namespace {

class Demo : public testing::Test {
 protected:
  void SetUp() override {
    const char* model = std::getenv("DEEM_MODEL");
    if (model == nullptr) GTEST_SKIP() << "DEEM_MODEL is not set; make test sets it";
    model_ = model;
    std::string name = (std::filesystem::temp_directory_path() / "deem-e2e-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  Command command(std::vector<std::string> args) const {
    args.insert(args.begin(), DEEM_PROGRAM);
    return {.argv = std::move(args),
            .environment = {"LANG=C.UTF-8", "HOME=" + folder_},
            .folder = folder_};
  }
  Finished deem(std::vector<std::string> args) const {
    auto done = run_process(command(std::move(args)), Seconds(600));
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return done ? *done : Finished{};
  }
  std::vector<record::Row> rows(const std::string& run) const {
    auto file = record::load_rows(join_path(join_path(folder_, run), "rows.jsonl"));
    EXPECT_TRUE(file);
    return file ? std::move(file->rows) : std::vector<record::Row>{};
  }

  std::string model_, folder_;
};

TEST_F(Demo, AsksScoresAndWritesItsReport) {
  const Finished done =
      deem({"demo", "--model", model_, "--limit", "3", "--out", "run", "--threads", "1"});
  ASSERT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_NE(done.output.find("readout letters:raw"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("baseline: keyword overlap"), std::string::npos);
  const auto found = rows("run");
  EXPECT_EQ(std::ranges::count(found, std::string(), &record::Row::probe),
            45);                 // 5 tasks, 3 items, 3 arms
  EXPECT_GT(found.size(), 60U);  // and their probes
  for (const record::Row& row : found) {
    EXPECT_NE(row.status, record::Row::Status::Error) << row.reason;
    if (row.arm != "readout" || row.status != record::Row::Status::Asked) continue;
    const auto& letters = row.readings.at("letters").rounds.at(0).letters;
    ASSERT_TRUE(letters.mass_outside.has_value());
    EXPECT_NEAR(letters.mass_letters + *letters.mass_outside, 1, 1e-3);
    EXPECT_EQ(letters.logprobs.size(), row.readings.at("letters").rounds.at(0).options.size());
  }
  const auto json = codec::parse_json(*read_file(folder_ + "/run/score.json"));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->get_string("schema"), "deem.score/1");
  const auto run = record::load_run(folder_ + "/run");
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->ended.empty());
  EXPECT_TRUE(run->arms[0].letter_proof.find("ids") != nullptr);
  EXPECT_NE(done.errors.find("run/report.html"), std::string::npos) << done.errors;
  const std::string page = read_file(folder_ + "/run/report.html").value_or("");
  EXPECT_NE(page.find("<section id=\"verdict\""), std::string::npos);
  // The prompts are rendered again from the kit and have the rows' digests.
  EXPECT_NE(page.find("<pre dir=\"auto\" tabindex=\"0\">"), std::string::npos);
  EXPECT_EQ(page.find("The prompt is not shown"), std::string::npos);
  ASSERT_TRUE(write_file_atomically(folder_ + "/run/kit/states.jsonl", "changed\n"));
  const Finished changed = deem({"report", "run", "--out", "changed.html"});
  EXPECT_EQ(changed.ending.code, 0) << changed.errors;
  EXPECT_NE(
      read_file(folder_ + "/changed.html").value_or("").find("The prompt is not shown: the kit"),
      std::string::npos);
  // Scoring again from rows gives what the run printed.
  const Finished again = deem({"score", "run"});
  EXPECT_TRUE(done.output.starts_with(again.output)) << done.output;
  // Three items are too few to choose a reading by, and the demo says so.
  EXPECT_NE(done.output.find("nothing chosen: 3 labelled answers, 30 are needed"),
            std::string::npos);
  EXPECT_FALSE(file_exists(folder_ + "/run/chosen.json"));

  const Finished same = deem({"compare", "run", "--format", "json", "--column", "written:raw"});
  ASSERT_EQ(same.ending.code, 0) << same.errors;
  const auto compared = codec::parse_json(same.output);
  ASSERT_TRUE(compared) << same.output;
  EXPECT_EQ(compared->get_string("schema"), "deem.compare/1");
  ASSERT_EQ(compared->find("pairs")->items().size(), 1U);
  EXPECT_EQ(compared->find("pairs")->items()[0].get_string("a"), "readout letters:raw");
  const Finished gated = deem({"compare", "run", "--gate", "accuracy>=1.01"});
  EXPECT_EQ(gated.ending.code, 1) << gated.output;
  EXPECT_NE(gated.errors.find("gate accuracy>=1.01 fails"), std::string::npos) << gated.errors;
}

/// Rows → choose and calibrate → a run, a score and one decision by what they found.
TEST_F(Demo, ChoosesAReadingAndAppliesIt) {
  ASSERT_EQ(deem({"demo", "--model", model_, "--limit", "1", "--out", "demo"}).ending.code, 0);
  const std::string seat = "local:" + model_;
  const Finished asked =
      deem({"run", "--kit", "demo/kit", "--seat", seat, "--task", "said", "--limit", "32",
            "--reading", "channel", "--group", "16", "--out", "run", "--quiet"});
  ASSERT_EQ(asked.ending.code, 0) << asked.errors;
  const Finished chosen = deem({"choose", "run", "--format", "json"});
  ASSERT_EQ(chosen.ending.code, 0) << chosen.errors;
  const auto json = codec::parse_json(chosen.output);
  ASSERT_TRUE(json) << chosen.output;
  EXPECT_EQ(json->find("tasks")->items()[0].get_int("items"), 32);
  const auto fit = record::load_fit(folder_ + "/run/chosen.json");
  ASSERT_TRUE(fit);
  ASSERT_EQ(fit->entries.size(), 1U);
  EXPECT_EQ(fit->entries[0].reading, "channel");
  EXPECT_TRUE(fit->model.digest.has_value());
  ASSERT_EQ(deem({"calibrate", "run", "--out", "fit.json"}).ending.code, 0);

  const Finished applied =
      deem({"run", "--kit", "demo/kit", "--seat", seat, "--task", "said", "--limit", "2",
            "--calibration", "run/chosen.json", "--out", "by-fit", "--quiet"});
  ASSERT_EQ(applied.ending.code, 0) << applied.errors;
  EXPECT_NE(applied.output.find("readout chosen:fit"), std::string::npos) << applied.output;
  EXPECT_NE(applied.output.find("was fitted on answers to this very kit"), std::string::npos);
  for (const record::Row& row : rows("by-fit")) EXPECT_TRUE(row.readings.contains("channel"));
  const Finished scored = deem({"score", "run", "--calibration", "fit.json", "--format", "json"});
  EXPECT_EQ(scored.ending.code, 0) << scored.errors;
  EXPECT_NE(scored.output.find("\"raw-sum-fit\""), std::string::npos);

  // Another model's fit is refused by name, before anything is asked.
  std::string text = *read_file(folder_ + "/fit.json");
  text.replace(text.find("sha256:") + 7, 4, "0000");
  ASSERT_TRUE(write_file_atomically(folder_ + "/other.json", text));
  const Finished refused =
      deem({"run", "--kit", "demo/kit", "--seat", seat, "--task", "said", "--limit", "2",
            "--calibration", "other.json", "--out", "refused", "--quiet"});
  EXPECT_EQ(refused.ending.code, 2);
  EXPECT_NE(refused.errors.find("is not for this arm: weights sha256:0000"), std::string::npos)
      << refused.errors;
  EXPECT_FALSE(is_folder(folder_ + "/refused"));
  EXPECT_EQ(deem({"score", "run", "--calibration", "other.json"}).ending.code, 2);
  // A file that is no fit is not written over.
  ASSERT_TRUE(write_file_atomically(folder_ + "/mine.txt", "mine"));
  EXPECT_EQ(deem({"choose", "run", "--out", "mine.txt"}).ending.code, 2);
  EXPECT_EQ(read_file(folder_ + "/mine.txt").value_or(""), "mine");
}

TEST_F(Demo, LeavesAFolderThatIsNotItsOwnAlone) {
  ASSERT_TRUE(make_folders(folder_ + "/mine/kit"));
  ASSERT_TRUE(write_file_atomically(folder_ + "/mine/kit/notes.txt", "mine"));
  const Finished taken = deem({"demo", "--model", model_, "--out", "mine"});
  EXPECT_EQ(taken.ending.code, 2) << taken.errors;
  EXPECT_EQ(read_file(folder_ + "/mine/kit/notes.txt").value_or(""), "mine");

  ASSERT_TRUE(write_file_atomically(folder_ + "/no.gguf", "no model"));
  ASSERT_TRUE(make_folders(folder_ + "/empty"));
  for (const char* out : {"new", "empty"}) {
    EXPECT_NE(deem({"demo", "--model", "no.gguf", "--out", out}).ending.code, 0);
    EXPECT_FALSE(file_exists(folder_ + "/" + out + "/kit")) << out;
  }
  EXPECT_FALSE(is_folder(folder_ + "/new"));
  EXPECT_TRUE(is_folder(folder_ + "/empty")) << "the user made it";
}

TEST_F(Demo, ArmsWhoseNamesBeginAlikeStayApart) {
  std::string bytes;
  const std::string alike(100, 'x');
  for (const char* end : {"1", "2"}) {
    record::Row row;
    row.arm = alike + end;
    row.task = "t";
    row.id = "i";
    row.keys = {"a", "b"};
    row.label = "a";
    row.mode = "generate";
    row.readings["written"].kind = record::ReadingRecord::Kind::Written;
    row.readings["written"].answer.option = 0;
    bytes += record::format_row(row) + "\n";
  }
  ASSERT_TRUE(write_file_atomically(folder_ + "/rows.jsonl", bytes));
  const Finished done = deem({"score", "rows.jsonl", "--format", "csv"});
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_NE(done.output.find(alike + "1,"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find(alike + "2,"), std::string::npos) << done.output;
}

TEST_F(Demo, RefusesTheStateThatDoesNotFitAndCountsIt) {
  const Finished done = deem({"run", "--kit", DEEM_SOURCE_DIR "/kits/demo", "--task", "answered",
                              "--seat", "local:" + model_, "--context", "200", "--limit", "4",
                              "--out", "run", "--threads", "1"});
  ASSERT_EQ(done.ending.code, 3) << done.errors;
  std::size_t refused = 0;
  for (const record::Row& row : rows("run")) {
    if (row.status != record::Row::Status::Refused) continue;
    ++refused;
    EXPECT_EQ(row.reason, "overlong");
    EXPECT_GT(row.reason_number.value_or(0), 200);
  }
  EXPECT_EQ(refused, 4U);
  EXPECT_NE(done.output.find("refused before asking"), std::string::npos) << done.output;
  EXPECT_NE(done.errors.find("nothing was measured"), std::string::npos) << done.errors;
}

// The real program, killed with SIGKILL at random moments of its work, then resumed to its end.
TEST_F(Demo, SurvivesKillAndResumesWithoutLossOrDoubles) {
  std::mt19937 random(7);
  const std::vector<std::string> start = {"run",
                                          "--kit",
                                          DEEM_SOURCE_DIR "/kits/demo",
                                          "--task",
                                          "urgency",
                                          "--seat",
                                          "local:" + model_,
                                          "--reading",
                                          "letters",
                                          "--out",
                                          "run",
                                          "--threads",
                                          "1",
                                          "--quiet"};
  std::size_t before = 0;
  for (int i = 0; i < 5; ++i) {
    const bool began = file_exists(folder_ + "/run/run.json");
    auto child = Process::spawn(
        command(began ? std::vector<std::string>{"resume", "run", "--quiet"} : start));
    ASSERT_TRUE(child) << child.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random() % 900));
    child->send(SIGKILL);
    (void)child->wait(Seconds(20));
    if (!file_exists(folder_ + "/run/rows.jsonl")) continue;
    const std::size_t now = rows("run").size();
    EXPECT_GE(now, before);
    before = now;
  }
  const bool began = file_exists(folder_ + "/run/run.json");
  const Finished done = deem(began ? std::vector<std::string>{"resume", "run", "--quiet"} : start);
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  std::map<std::string, int> seen;
  const std::string bytes = *read_file(folder_ + "/run/rows.jsonl");
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = bytes.find('\n', at);
    const auto row = record::parse_row(std::string_view(bytes).substr(at, end - at));
    ASSERT_TRUE(row) << row.error().message;
    ++seen[row->id];
    at = end + 1;
  }
  EXPECT_EQ(seen.size(), 20U);
  for (const auto& [id, n] : seen) EXPECT_EQ(n, 1) << id;
}

TEST_F(Demo, FinishesTheRowInFlightAtAnInterrupt) {
  auto child =
      Process::spawn(command({"run", "--kit", DEEM_SOURCE_DIR "/kits/demo", "--seat",
                              "local:" + model_, "--out", "run", "--threads", "1", "--quiet"}));
  ASSERT_TRUE(child);
  for (int i = 0; i < 600 && !file_exists(folder_ + "/run/run.json"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  child->send(SIGINT);
  const auto ending = child->wait(Seconds(60));
  ASSERT_TRUE(ending) << ending.error().message;
  EXPECT_EQ(ending->code, 130) << child->errors();
  EXPECT_NE(child->errors().find("deem resume run"), std::string::npos) << child->errors();
  const auto file = record::load_rows(folder_ + "/run/rows.jsonl");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->torn_tail);
}

}  // namespace
}  // namespace deem
