#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "codec/json.h"
#include "report/full_report.h"
#include "report/html_text.h"
#include "report/test_energy.h"
#include "report/test_rows.h"

namespace deem::report {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

/// What every page must hold to, whatever is in it.
void expect_sound(const std::string& page) {
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_TRUE(is_report(page));
  EXPECT_EQ(occurrences(page, "<script"), 2U) << "the data and the program";
  EXPECT_EQ(occurrences(page, "</script"), 2U);
  EXPECT_EQ(occurrences(page, "<style"), 1U);
  EXPECT_EQ(occurrences(page, "<section"), occurrences(page, "</section>"));
  EXPECT_EQ(occurrences(page, "<div"), occurrences(page, "</div>"));
  const std::string body =
      page.substr(page.find("<body>"), page.find("<script") - page.find("<body>"));
  EXPECT_FALSE(std::regex_search(body, std::regex("[\" >](nan|-nan|inf)[\" <]")));
  static const std::set<std::string> kElements = {
      "a",       "abbr", "article", "b",      "bdi",        "body",   "caption", "circle", "dd",
      "details", "div",  "dl",      "dt",     "figcaption", "figure", "footer",  "form",   "h1",
      "h2",      "h3",   "h4",      "header", "li",         "main",   "nav",     "p",      "path",
      "polygon", "pre",  "section", "span",   "summary",    "svg",    "table",   "tbody",  "td",
      "text",    "th",   "thead",   "title",  "tr",         "ul"};
  const std::regex tag("<([a-zA-Z0-9]+)");
  for (auto it = std::sregex_iterator(body.begin(), body.end(), tag); it != std::sregex_iterator();
       ++it) {
    EXPECT_TRUE(kElements.contains((*it)[1])) << it->str();
  }
  EXPECT_EQ(body.find(" style="), std::string::npos) << "the policy would refuse it";
  EXPECT_FALSE(std::regex_search(body, std::regex("href=\"[^#]")));
  const std::size_t data = page.find("id=\"data\">") + 10;
  EXPECT_TRUE(codec::parse_json(page.substr(data, page.find("</script", data) - data)));
}

TEST(HtmlText, EscapesWhatHtmlKnowsAndShowsWhatIsHidden) {
  EXPECT_EQ(html("<a href='x'>\"&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;");
  EXPECT_EQ(html("a\u202Eb"), "a[U+202E]b");
  EXPECT_EQ(html("\x01\x7f\n\t"), "[U+0001][U+007F]\n\t");
  EXPECT_EQ(html("\xc3("), "[xC3](");  // half a character
  EXPECT_EQ(visible("zé中😀"), "zé中😀");
  EXPECT_EQ(visible("\u2028\ufeff\U000E0041"), "[U+2028][U+FEFF][U+E0041]");
  EXPECT_EQ(visible("\u200d"), "\u200d");  // emoji and scripts join by it
}

TEST(HtmlText, JsonCanNotEndItsElement) {
  const std::string text = script_json(codec::Json("</script><!--\u2028&"));
  EXPECT_EQ(text, "\"\\u003c/script\\u003e\\u003c!--\\u2028\\u0026\"");
}

TEST(HtmlText, HashesAsThePolicyWantsThem) {
  // From: printf %s TEXT | openssl dgst -sha256 -binary | base64
  EXPECT_EQ(csp_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
  EXPECT_EQ(csp_hash("alert(1)"), "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='");
}

TEST(HtmlText, SlugsAreFitForIds) {
  EXPECT_EQ(slug("Noise  floor (A/A)"), "noise-floor-a-a");
  EXPECT_EQ(slug("\"><script>"), "script");
}

TEST(Page, HoldsEveryPartOfARun) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 20, 15, 0.8);
  add_rows(rows, "b", "t", 20, 12, 0.7);
  FullReport report = make_full(rows);
  report.receipts.push_back({.path = "runs/x", .run = {}});
  report.receipts[0].run.kit_digest = "abcdef0123";
  const std::string page = as_html(report, rows);
  expect_sound(page);
  for (const char* id : {"verdict", "figures", "frontier", "reliability", "risk", "latency",
                         "position", "act", "contests", "mistakes", "counts", "receipts"}) {
    EXPECT_NE(page.find("<section id=\"" + std::string(id) + "\""), std::string::npos) << id;
  }
  EXPECT_NE(page.find(".750 [.53, .89]"), std::string::npos);  // 15 of 20
  EXPECT_NE(page.find("baseline: keyword overlap"), std::string::npos);
  EXPECT_NE(page.find("abcdef0123"), std::string::npos);
  EXPECT_EQ(occurrences(page, "<svg class=\"plot-svg\""), 5U);
}

TEST(Page, IsThereWithoutRows) {
  const FullReport report = make_full({});
  const std::string page = as_html(report, {});
  expect_sound(page);
  EXPECT_NE(page.find("there are no rows"), std::string::npos);
  EXPECT_TRUE(codec::parse_json(as_json(report, {})));
}

TEST(Page, IsThereForOneRow) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 1, 1, 0.9);
  expect_sound(as_html(make_full(rows), rows));
}

TEST(Page, IsThereWhenAllIsVoidRefusedOrFailed) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 3, 3, 0.9);
  rows[0].readings["letters"].cause = decision::VoidCause::ThinkingToken;
  rows[1].readings["letters"].error = "HTTP 500: <b>no</b>";
  rows[2].status = record::Row::Status::Refused;
  rows[2].reason = "overlong";
  rows[2].readings.clear();
  const std::string page = as_html(make_full(rows), rows);
  expect_sound(page);
  EXPECT_NE(page.find("thinking_token 1"), std::string::npos);
  EXPECT_NE(page.find("not measured"), std::string::npos);
}

TEST(Page, HostileTextStaysText) {
  const std::string evil = "</script><script>hit()</script><img src=x onerror=hit()>\"'\u202E&";
  std::vector<record::Row> rows;
  for (int i = 0; i < 4; ++i) {
    rows.push_back(letters_row(evil + "1", evil, evil + std::to_string(i), {evil, "b"},
                               i < 2 ? evil : "b", {0.9, 0.1}));
    rows.push_back(letters_row(evil + "2", evil, evil + std::to_string(i), {evil, "b"},
                               i < 2 ? evil : "b", {0.2, 0.8}));
  }
  for (record::Row& row : rows) {
    row.kind = evil;
    row.readings["letters"].reply = evil;
  }
  FullReport report = make_full(rows);
  for (auto& [key, prompt] : report.prompts) prompt = {.text = evil, .missing = {}};
  report.heading.lines.emplace_back(evil, evil);
  report.heading.notes.push_back(evil);
  report.version = evil;
  report.sections.push_back(
      {.id = evil,
       .title = evil,
       .explanation = evil,
       .tables = {{.caption = evil, .head = {{evil, false}}, .rows = {{evil}}}}});
  report.receipts.push_back({.path = evil, .run = {}});
  record::RunRecord& run = report.receipts[0].run;
  run.kit_name = run.kit_path = run.host = run.started = evil;
  run.settings = codec::Json::object({{evil, evil}});
  run.arms.emplace_back();
  run.arms[0].name = run.arms[0].mode = evil;
  run.arms[0].identity = codec::Json::object({{evil, codec::Json::array({evil})}});
  const std::string page = as_html(report, rows);
  expect_sound(page);
  EXPECT_EQ(page.find("<script>hit"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("\u202E"), std::string::npos);
  EXPECT_NE(page.find("[U+202E]"), std::string::npos);
  const auto json = codec::parse_json(as_json(report, rows));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->get_string("schema"), "deem.report/1");
  EXPECT_EQ(json->find("mistakes")->items().at(0).get_string("prompt"), evil);
}

TEST(Page, CarriesTheSectionsOfItsCallers) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 4, 3, 0.8);
  FullReport report = make_full(rows);
  report.sections.push_back({.id = "noise floor",
                             .title = "Noise floor",
                             .explanation = "The same items twice.",
                             .tables = {{.caption = "by column",
                                         .head = {{"column", false}, {"flips", true}},
                                         .rows = {{"a letters", "0"}, {"short"}}}}});
  const std::string page = as_html(report, rows);
  expect_sound(page);
  EXPECT_NE(page.find("<section id=\"added-noise-floor\""), std::string::npos);
  EXPECT_NE(page.find("<td class=\"num\">0</td>"), std::string::npos);
  EXPECT_NE(as_markdown(report).find("| a letters | 0 |\n| short |  |\n"), std::string::npos);
  const auto json = codec::parse_json(as_json(report, rows));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("sections")->items().at(0).get_string("title"), "Noise floor");
}

TEST(Page, ShowsJoulesAndThePowerTrace) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 6, 4, 0.8);
  FullReport report = make_full(rows);
  report.heading.energy.push_back(hand_made_joules("a", "t"));
  report.power = plot_power(hand_made_power("a", "t"), "runs/x");
  const std::string page = as_html(report, rows);
  expect_sound(page);
  EXPECT_NE(page.find("<section id=\"energy\""), std::string::npos);
  EXPECT_NE(page.find("<a href=\"#energy\">"), std::string::npos);
  EXPECT_EQ(occurrences(page, "trace-svg\" viewBox"), 1U);
  EXPECT_NE(page.find("aria-label=\"Power of runs/x, segment 1: 2 boards for 28.0 s"),
            std::string::npos);
  EXPECT_NE(page.find("<td class=\"num\">500</td>"), std::string::npos);
  EXPECT_NE(page.find("Every block of <bdi>runs/x</bdi>"), std::string::npos);
  report.heading.energy[0].energy = score::energy_not_measured("no board");
  report.power.clear();
  const std::string none = as_html(report, rows);
  expect_sound(none);
  EXPECT_NE(none.find("joules not measured (no board)"), std::string::npos);
}

TEST(Page, HostileNamesOfAPowerFileStayText) {
  const std::string evil = "</script><script>hit()</script>\"'\u202E&<img>";
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 6, 4, 0.8);
  FullReport report = make_full(rows);
  record::PowerFile power = hand_made_power(evil, evil);
  for (auto& board : power.segments[0].boards) board.id = evil + board.id;
  report.power = plot_power(power, evil);
  report.heading.energy.push_back({.run = evil, .energy = score::energy_of(power), .pins = {}});
  const std::string page = as_html(report, rows);
  expect_sound(page);
  EXPECT_EQ(page.find("<script>hit"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
}

TEST(Page, SaysWhyAPromptIsMissing) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 4, 3, 0.8);
  FullReport report = make_full(rows);
  EXPECT_NE(as_html(report, rows).find("not shown: there is no kit"), std::string::npos);
  report.prompts.begin()->second = {.text = "Which one?", .missing = {}};
  EXPECT_NE(as_html(report, rows).find(">Which one?</pre>"), std::string::npos);
}

TEST(Page, ManyColumnsKeepAFewInEachPlot) {
  std::vector<record::Row> rows;
  for (int i = 0; i < 24; ++i) add_rows(rows, "arm" + std::to_string(i), "t", 20, 8 + i % 9, 0.7);
  const std::string page = as_html(make_full(rows), rows);
  expect_sound(page);
  const std::size_t at = page.find("id=\"risk-0\"");
  const std::string figure = page.substr(at, page.find("</figure>", at) - at);
  EXPECT_EQ(occurrences(figure, "<path class=\"line"), 8U);  // four lines, four swatches
}

TEST(Page, OfOneReadingShowsItsVariants) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 20, 15, 0.8);
  for (record::Row& row : rows) {
    auto& reading = row.readings["letters"];
    reading.prior_rounds = reading.rounds;
    for (auto& logprob : reading.prior_rounds->front().letters.logprobs) logprob = std::log(0.5);
  }
  const std::string page = as_html(make_full(rows), rows);
  const std::size_t at = page.find("id=\"risk-0\"");
  const std::string figure = page.substr(at, page.find("</figure>", at) - at);
  EXPECT_NE(figure.find("a letters:prior"), std::string::npos) << "beside a letters:raw";
}

TEST(IsReport, KnowsItsOwn) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 2, 1, 0.8);
  const FullReport report = make_full(rows);
  EXPECT_TRUE(is_report(as_json(report, rows)));
  EXPECT_TRUE(is_report(as_markdown(report)));
  EXPECT_TRUE(is_report(as_csv(report.scores, report.heading)));
  EXPECT_FALSE(is_report("<!doctype html><html>my thesis</html>"));
  EXPECT_FALSE(is_report(""));
}

}  // namespace
}  // namespace deem::report
