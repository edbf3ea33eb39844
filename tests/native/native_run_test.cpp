// Decision endpoints from `deem run` to the figures. The scripted ones give the first option a
// known share, so what every figure must be follows from the kit's labels alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/process.h"
#include "codec/json.h"
#include "kit/kit.h"
#include "record/rows_file.h"
#include "seat/fake/fake_server.h"

namespace deem {
namespace {

using codec::Json;
using seat::AnswerFault;
using seat::FakeServer;
using seat::ServerKind;

const std::string kKit = DEEM_SOURCE_DIR "/kits/demo";
constexpr double kFirst = 0.6;  // of the first option; the others share the rest

/// An endpoint that gives every first option the same share, of whatever question.
FakeServer start(ServerKind kind, seat::FakeOptions options = {}) {
  options.context = 1 << 20;
  options.scores.letters = [](std::string_view, std::size_t n) {
    std::vector<double> out(n, std::log((1 - kFirst) / static_cast<double>(n - 1)));
    out[0] = std::log(kFirst);
    return out;
  };
  auto server = FakeServer::start(kind, std::move(options));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

/// Share of labels that are the first option, and the mean Brier score of such answers.
struct Expected {
  std::size_t items = 0;
  double accuracy = 0, brier = 0;
};
std::map<std::string, Expected> expected_by_task() {
  const auto loaded = kit::load_kit(kKit);
  EXPECT_TRUE(loaded) << loaded.error().message;
  std::map<std::string, Expected> out;
  for (const kit::Task& task : loaded->kit.tasks) {
    Expected& of = out[task.name];
    for (const kit::Item& item : task.items) {
      if (!item.label) continue;
      const auto& options = item.question.options;
      const double other = (1 - kFirst) / static_cast<double>(options.size() - 1);
      const bool right = item.label == options[0].key;
      const auto wrong = static_cast<double>(options.size() - 2);
      of.brier += right ? (1 - kFirst) * (1 - kFirst) + (wrong + 1) * other * other
                        : kFirst * kFirst + (1 - other) * (1 - other) + wrong * other * other;
      of.accuracy += right ? 1 : 0;
      ++of.items;
    }
    of.accuracy /= static_cast<double>(of.items);
    of.brier /= static_cast<double>(of.items);
  }
  return out;
}

class NativeRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "deem-native-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Finished deem(std::vector<std::string> argv, int want = 0) {
    argv.insert(argv.begin(), DEEM_PROGRAM);
    auto finished = run_process(
        {.argv = argv, .environment = own_environment(), .output_limit = 64U << 20}, Seconds(120));
    EXPECT_TRUE(finished) << finished.error().message;
    if (!finished) return {};
    EXPECT_EQ(finished->ending.code, want) << argv[1] << "\n" << finished->errors;
    return std::move(*finished);
  }

  Json json_of(std::vector<std::string> argv, int want = 0) {
    argv.insert(argv.end(), {"--format", "json"});
    auto json = codec::parse_json(deem(std::move(argv), want).output);
    EXPECT_TRUE(json) << json.error().message;
    return json.value_or(Json());
  }

  std::string path(const std::string& name) const { return join_path(folder_, name); }

  std::string folder_;
};

TEST_F(NativeRun, FiguresAreThoseOfTheAnswersInEveryForm) {
  const FakeServer one = start(ServerKind::SystemOne);
  const FakeServer openai = start(ServerKind::Decisions);
  const FakeServer sglang = start(ServerKind::Decisions, {.sglang_form = true});
  deem({"run", "--kit", kKit, "--out", path("run"), "--no-power", "--quiet", "--arm",
        "name=one,seat=systemone:" + one.address(), "--arm",
        "name=openai,seat=decisions:" + openai.address(), "--arm",
        "name=sglang,seat=decisions:" + sglang.address() + ",group=4"});
  const Json scores = json_of({"score", path("run")});
  const auto expected = expected_by_task();
  ASSERT_EQ(scores.find("columns")->items().size(), 3U);
  for (const Json& column : scores.find("columns")->items()) {
    EXPECT_EQ(column.get_string("reading"), "native");
    ASSERT_EQ(column.find("tasks")->items().size(), expected.size());
    for (const Json& task : column.find("tasks")->items()) {
      const Expected& want = expected.at(*task.get_string("task"));
      EXPECT_EQ(task.find("accuracy")->get_int("n"), static_cast<std::int64_t>(want.items));
      EXPECT_NEAR(*task.find("accuracy")->get_double("value"), want.accuracy, 1e-12);
      EXPECT_NEAR(*task.get_double("brier"), want.brier, 1e-9);
    }
  }
  // Three forms of one answer: no pair differs.
  const Json compared = json_of({"compare", path("run")});
  ASSERT_EQ(compared.find("pairs")->items().size(), 2U);
  for (const Json& pair : compared.find("pairs")->items()) {
    EXPECT_EQ(*pair.find("all")->get_int("right_a") + *pair.find("all")->get_int("right_b"), 0);
    EXPECT_EQ(pair.find("disagreements")->items().size(), 0U);
    EXPECT_GT(*pair.find("all")->get_int("n"), 200);
  }
  deem({"compare", path("run"), "--gate", "brier<=+0.000001", "--gate", "accuracy>=0.05"});
}

TEST_F(NativeRun, IsCalibratedChosenAndReportedWithTheRest) {
  const FakeServer native = start(ServerKind::SystemOne, {.answers = {AnswerFault::Rounded}});
  deem({"run", "--kit", kKit, "--out", path("run"), "--no-power", "--quiet", "--seat",
        "systemone:" + native.address(), "--permute", "1", "--laws", "--noise", "3"});
  deem({"calibrate", path("run"), "--out", path("fit.json")});
  deem({"choose", path("run"), "--out", path("chosen.json")});
  const Json fitted = json_of({"score", path("run"), "--calibration", path("fit.json")});
  const std::string text = codec::dump_json(fitted);
  EXPECT_NE(text.find("raw-fit"), std::string::npos);
  deem({"report", path("run")});
  const auto page = read_file(join_path(path("run"), "report.html"));
  ASSERT_TRUE(page);
  EXPECT_NE(page->find("native"), std::string::npos);
  EXPECT_EQ(page->find("rendered again it has another digest"), std::string::npos);
  deem({"run", "--kit", kKit, "--out", path("again"), "--no-power", "--quiet", "--limit", "2",
        "--seat", "systemone:" + native.address(), "--calibration", path("chosen.json")});
  // The same endpoint under an alias that now stands for another model: the fit is refused.
  const FakeServer moved = start(ServerKind::SystemOne, {.served = "fake-model-2"});
  const Finished refused =
      deem({"run", "--kit", kKit, "--out", path("moved"), "--no-power", "--quiet", "--seat",
            "systemone:" + moved.address(), "--calibration", path("fit.json")},
           2);
  EXPECT_NE(refused.errors.find("root fake-model there, fake-model-2 here"), std::string::npos)
      << refused.errors;
}

struct Planted {
  AnswerFault fault;
  const char* cause;  // "": no fault of an answer, all are answers
};

TEST_F(NativeRun, EveryPlantedFaultVoidsItsRowsAndNoOtherDoes) {
  const Planted kPlanted[] = {{AnswerFault::RenamedId, "no_answer"},
                              {AnswerFault::NoAnswers, "no_answer"},
                              {AnswerFault::NullAnswer, "no_answer"},
                              {AnswerFault::WrongType, "no_answer"},
                              {AnswerFault::Declined, "declined"},
                              {AnswerFault::MissingOption, "missing_option"},
                              {AnswerFault::NullOption, "missing_option"},
                              {AnswerFault::NanOption, "not_a_number"},
                              {AnswerFault::TextOption, "not_a_number"},
                              {AnswerFault::Negative, "not_a_probability"},
                              {AnswerFault::Percent, "not_a_probability"},
                              {AnswerFault::SumLow, "sum_not_one"},
                              {AnswerFault::AllZero, "sum_not_one"},
                              {AnswerFault::ChoiceDiffers, "choice_differs"},
                              {AnswerFault::ChoiceUnknown, "choice_differs"},
                              {AnswerFault::LowMass, "low_label_mass"},
                              {AnswerFault::Rounded, ""},
                              {AnswerFault::Reordered, ""},
                              {AnswerFault::ExtraOption, ""},
                              {AnswerFault::ExtraAnswer, ""},
                              {AnswerFault::ExtraMembers, ""},
                              {AnswerFault::NoConfidence, ""}};
  int planted = 0, caught = 0, healthy = 0, alarms = 0;
  for (const auto& [fault, cause] : kPlanted) {
    const FakeServer server = start(ServerKind::SystemOne, {.answers = {fault}});
    const std::string out = path("run" + std::to_string(planted + healthy));
    deem({"run", "--kit", kKit, "--out", out, "--no-power", "--quiet", "--task", "section",
          "--seat", "systemone:" + server.address()},
         std::string_view(cause).empty() ? 0 : 3);
    const auto rows = record::load_rows(join_path(out, "rows.jsonl"));
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_FALSE(rows->rows.empty());
    std::size_t named = 0;
    for (const record::Row& row : rows->rows) {
      const auto found = decision::to_string(row.readings.at("native").cause);
      named += found == (std::string_view(cause).empty() ? "none" : cause) ? 1U : 0U;
    }
    const bool all = named == rows->rows.size();
    EXPECT_TRUE(all) << out << " " << cause << ": " << named << " of " << rows->rows.size();
    if (std::string_view(cause).empty()) {
      ++healthy;
      alarms += all ? 0 : 1;
    } else {
      ++planted;
      caught += all ? 1 : 0;
    }
  }
  std::printf("faults caught %d of %d planted, false alarms %d of %d healthy runs\n", caught,
              planted, alarms, healthy);
}

}  // namespace
}  // namespace deem
