// Writes the pages that the browser test looks at into a folder: hostile.html, wide.html (24
// columns on three tasks), energy.html (joules and a power trace) and empty.html.
#include <cstdio>
#include <string>

#include "base/file.h"
#include "report/test_energy.h"
#include "report/test_rows.h"

namespace deem::report {
namespace {

const std::string kEvil =
    "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>"
    "\"'><svg onload=window.hit=1> javascript:window.hit=1 {{7*7}} \u202Eevil &lt;";

std::string hostile_page() {
  std::vector<record::Row> rows;
  for (int i = 0; i < 12; ++i) {
    for (const char* arm : {"1", "2"}) {
      record::Row row = letters_row(
          kEvil + arm, kEvil, kEvil + std::to_string(i), {kEvil, "b"}, i % 2 == 0 ? kEvil : "b",
          {i % 3 == 0 || *arm == '1' ? 0.9 : 0.2, i % 3 == 0 || *arm == '1' ? 0.1 : 0.8});
      row.kind = kEvil;
      row.readings["letters"].reply = kEvil;
      rows.push_back(std::move(row));
    }
  }
  FullReport report = make_full(rows);
  for (auto& [key, prompt] : report.prompts) prompt = {.text = "PROMPT " + kEvil, .missing = {}};
  report.heading.lines.emplace_back(kEvil, kEvil);
  report.heading.notes.push_back(kEvil);
  report.sections.push_back(
      {.id = kEvil,
       .title = kEvil,
       .explanation = kEvil,
       .tables = {{.caption = kEvil, .head = {{kEvil, false}}, .rows = {{kEvil}}}}});
  report.receipts.push_back({.path = kEvil, .run = {}});
  report.receipts[0].run.kit_name = kEvil;
  report.receipts[0].run.settings = codec::Json::object({{kEvil, kEvil}});
  record::PowerFile power = hand_made_power(kEvil, kEvil);
  power.segments[0].boards[0].id = kEvil;
  report.power = plot_power(power, kEvil);
  report.heading.energy.push_back({.run = kEvil, .energy = score::energy_of(power), .pins = {}});
  return as_html(report, rows);
}

std::string wide_page() {
  std::vector<record::Row> rows;
  for (const char* task : {"first", "second", "third"}) {
    for (int i = 0; i < 24; ++i) {
      add_rows(rows, "arm-" + std::to_string(i) + "-with-a-rather-long-name", task, 40,
               14 + (i * 7) % 25, 0.55 + 0.018 * i, 0.01 * (i + 1));
    }
  }
  return as_html(make_full(rows), rows);
}

std::string energy_page() {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 6, 4, 0.8);
  FullReport report = make_full(rows);
  report.heading.energy.push_back(hand_made_joules("a", "t"));
  report.heading.price = {.per_kwh = 0.3, .grams_per_kwh = 400};
  report.power = plot_power(hand_made_power("a", "t"), "runs/x");
  return as_html(report, rows);
}

}  // namespace
}  // namespace deem::report

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: browser_pages FOLDER\n", stderr);
    return 2;
  }
  using namespace deem;
  for (const auto& [name, page] : {std::pair("hostile.html", report::hostile_page()),
                                   {"wide.html", report::wide_page()},
                                   {"energy.html", report::energy_page()},
                                   {"empty.html", report::as_html(report::make_full({}), {})}}) {
    if (const auto written = write_file_atomically(join_path(argv[1], name), page); !written) {
      std::fprintf(stderr, "%s\n", written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
