#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "cli/verbs.h"
#include "codec/json.h"
#include "record/fields.h"
#include "record/receipt.h"

namespace deem::cli {
namespace {

using record::ReceiptDifference;

std::string shown(const std::string& text) { return printable(text, 60); }

void print_differences(const std::vector<ReceiptDifference>& differences, bool must) {
  bool first = true;
  for (const ReceiptDifference& one : differences) {
    if (one.must != must) continue;
    if (first) fmt::print("{}\n", must ? "must not differ:" : "differs, and may:");
    first = false;
    fmt::print("  {}: {} | {}\n", printable(one.what, 80), shown(one.a), shown(one.b));
  }
}

std::string as_json(const std::string& a, const std::string& b,
                    const std::vector<ReceiptDifference>& differences) {
  codec::Json out = codec::Json::object();
  out.set("schema", "deem.receipt-check/1");
  out.set("a", record::lossy_utf8(a));
  out.set("b", record::lossy_utf8(b));
  codec::Json list = codec::Json::array();
  for (const ReceiptDifference& one : differences) {
    list.push(codec::Json::object(
        {{"what", one.what}, {"a", one.a}, {"b", one.b}, {"must_match", one.must}}));
  }
  out.set("differences", std::move(list));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

}  // namespace

int run_receipt_check(const Args& args) {
  CLI::App app(
      "What differs between two runs' records: kit, harness, settings and models, which must be "
      "the same\n"
      "for their figures to stand side by side; boxes, boards, drivers and builds, which may "
      "differ.\n\n"
      "  deem receipt check runs/box-a runs/box-b\n",
      "deem receipt check");
  std::string a, b;
  bool json = false;
  app.add_option("RUN_A", a, "a run folder")->required();
  app.add_option("RUN_B", b, "another")->required();
  app.add_flag("--json", json, "as data");
  if (const auto code = parse(app, args)) return *code;
  const Result<record::RunRecord> left = record::load_run(a);
  if (!left) return report_error(left.error());
  const Result<record::RunRecord> right = record::load_run(b);
  if (!right) return report_error(right.error());
  const auto differences = record::compare_receipts(*left, *right);
  const bool found = std::ranges::any_of(differences, &ReceiptDifference::must);
  const bool told = left->receipt.is_object() && right->receipt.is_object();
  if (json) {
    fmt::print("{}", as_json(a, b, differences));
  } else {
    print_differences(differences, true);
    print_differences(differences, false);
    if (found) {
      fmt::print("their figures can not stand side by side\n");
    } else if (told) {
      fmt::print("their figures can stand side by side\n");
    }
  }
  if (found) return kFound;
  if (told) return kDone;
  fmt::print(stderr, "deem: {} has no receipt (a run of an older deem): its harness is not known\n",
             left->receipt.is_object() ? b : a);
  return kNotMeasured;
}

}  // namespace deem::cli
