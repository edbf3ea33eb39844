#include "record/receipt.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace deem::record {
namespace {

using codec::Json;

RunRecord run_on(const std::string& host) {
  RunRecord run;
  run.deem = "0.1.0";
  run.kit_name = "demo";
  run.kit_digest = "k1";
  run.host = host;
  run.cores = 8;
  run.settings = Json::object({{"order", "state"}, {"seed", 1}});
  run.receipt = Json::object({{"harness", "h1"}, {"kernel", "Linux 6.1"}, {"build", "b-" + host}});
  ArmRecord arm;
  arm.name = "q8";
  arm.mode = "readout";
  arm.settings = Json::object({{"seat", "local:/" + host + "/m.gguf"}, {"group", 1}});
  arm.identity = Json::object({{"kind", "local"},
                               {"address", "/" + host + "/m.gguf"},
                               {"digest", "sha256:1"},
                               {"template_sha256", "t"}});
  run.arms.push_back(arm);
  return run;
}

std::vector<std::string> named(const std::vector<ReceiptDifference>& differences, bool must) {
  std::vector<std::string> out;
  for (const ReceiptDifference& one : differences) {
    if (one.must == must) out.push_back(one.what);
  }
  return out;
}

TEST(CompareReceipts, SaysNothingOfARunAndItself) {
  EXPECT_TRUE(compare_receipts(run_on("a"), run_on("a")).empty());
}

TEST(CompareReceipts, TwoBoxesWithOneKitAndModelMayStandSideBySide) {
  const auto differences = compare_receipts(run_on("a"), run_on("b"));
  EXPECT_TRUE(named(differences, true).empty());
  EXPECT_EQ(named(differences, false),
            (std::vector<std::string>{"arm q8: address", "host", "build"}));
}

struct MustCase {
  const char* what;
  void (*change)(RunRecord&);
};
class MustMatch : public testing::TestWithParam<MustCase> {};

TEST_P(MustMatch, IsNamedWithBothValues) {
  RunRecord other = run_on("a");
  GetParam().change(other);
  const auto differences = compare_receipts(run_on("a"), other);
  EXPECT_EQ(named(differences, true), std::vector<std::string>{GetParam().what});
  EXPECT_NE(differences.front().a, differences.front().b);
}

INSTANTIATE_TEST_SUITE_P(
    All, MustMatch,
    testing::Values(MustCase{"kit digest", [](RunRecord& r) { r.kit_digest = "k2"; }},
                    MustCase{"deem", [](RunRecord& r) { r.deem = "0.2.0"; }},
                    MustCase{"harness", [](RunRecord& r) { r.receipt.set("harness", "h2"); }},
                    MustCase{"harness",
                             [](RunRecord& r) {
                               r.receipt =
                                   Json::object({{"kernel", "Linux 6.1"}, {"build", "b-a"}});
                             }},
                    MustCase{"setting seed", [](RunRecord& r) { r.settings.set("seed", 2); }},
                    MustCase{"arm q8: mode", [](RunRecord& r) { r.arms[0].mode = "generate"; }},
                    MustCase{"arm q8: digest",
                             [](RunRecord& r) { r.arms[0].identity.set("digest", "sha256:2"); }},
                    MustCase{"arm q8: template_sha256",
                             [](RunRecord& r) { r.arms[0].identity.set("template_sha256", "u"); }},
                    MustCase{"arm q8: group",
                             [](RunRecord& r) { r.arms[0].settings.set("group", 4); }}));

TEST(CompareReceipts, OneDigestIsOneSetOfWeightsWhateverItsName) {
  RunRecord other = run_on("a");
  other.arms[0].identity.set("model", "smol");
  other.arms[0].identity.set("root", "/models/smol.gguf");
  EXPECT_TRUE(named(compare_receipts(run_on("a"), other), true).empty());
  RunRecord named_only = run_on("a"), other_name = run_on("a");
  named_only.arms[0].identity = Json::object({{"model", "m"}});
  other_name.arms[0].identity = Json::object({{"model", "n"}});
  EXPECT_EQ(named(compare_receipts(named_only, other_name), true),
            std::vector<std::string>{"arm q8: model"});
}

TEST(CompareReceipts, WeightsOfAServersFileAreComparedByTheirBytes) {
  RunRecord a = run_on("a"), b = run_on("b");
  for (RunRecord* run : {&a, &b}) {
    run->arms[0].identity = Json::object({{"kind", "llama-server"}, {"root", "/" + run->host}});
    run->arms[0].process = Json::object({{"weights", Json::object({{"sha256", "1"}})},
                                         {"runtimes", Json::array({"libcudart 12.4"})}});
  }
  EXPECT_TRUE(named(compare_receipts(a, b), true).empty()) << "one file by two paths";
  b.arms[0].process = Json::object({{"weights", Json::object({{"sha256", "2"}})}});
  EXPECT_EQ(named(compare_receipts(a, b), true),
            (std::vector<std::string>{"arm q8: weights", "arm q8: root"}));
  const auto others = named(compare_receipts(a, b), false);
  EXPECT_NE(std::ranges::find(others, "arm q8: runtimes"), others.end());
}

TEST(CompareReceipts, TwoEmptyDigestsAreNoSameWeights) {
  RunRecord one = run_on("a"), other = run_on("a");
  one.arms[0].identity = Json::object({{"digest", ""}, {"model", "m"}});
  other.arms[0].identity = Json::object({{"digest", ""}, {"model", "n"}});
  EXPECT_EQ(named(compare_receipts(one, other), true), std::vector<std::string>{"arm q8: model"});
}

TEST(CompareReceipts, AnEmptyTextSaysAsLittleAsNothing) {
  RunRecord other = run_on("a");
  other.arms[0].settings.set("ca-file", "");
  EXPECT_TRUE(compare_receipts(run_on("a"), other).empty());
}

TEST(ReceiptsUnknown, WhatIsNotToldIsNotTheSame) {
  EXPECT_EQ(receipts_unknown(run_on("a"), run_on("b")), "");
  for (void (*change)(RunRecord&) : std::initializer_list<void (*)(RunRecord&)>{
           [](RunRecord& r) { r.receipt = Json(); },
           [](RunRecord& r) { r.receipt = Json::object(); },
           [](RunRecord& r) { r.receipt.set("harness", ""); },
           [](RunRecord& r) { r.receipt.set("harness", Json::array({Json("x")})); },
           [](RunRecord& r) { r.kit_digest.clear(); },
           [](RunRecord& r) { r.arms[0].identity = Json(); },
           [](RunRecord& r) { r.arms[0].name = "q4"; }, [](RunRecord& r) { r.arms.clear(); }}) {
    RunRecord other = run_on("a");
    change(other);
    EXPECT_NE(receipts_unknown(run_on("a"), other), "");
    EXPECT_NE(receipts_unknown(other, run_on("a")), "");
  }
}

TEST(CompareReceipts, ArmsThatOnlyOneHasAreNamed) {
  RunRecord other = run_on("a");
  other.arms[0].name = "q4";
  EXPECT_EQ(named(compare_receipts(run_on("a"), other), false),
            (std::vector<std::string>{"arm q8", "arm q4"}));
}

}  // namespace
}  // namespace deem::record
