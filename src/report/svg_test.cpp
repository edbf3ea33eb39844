#include <gtest/gtest.h>

#include <limits>

#include "report/plot.h"

namespace deem::report {
namespace {

Plot line_plot() {
  Plot plot{.id = "p", .kind = "risk", .task = "t"};
  plot.x.label = "across";
  plot.y.label = "up";
  plot.series.push_back({.column = 0,
                         .draw = Series::Draw::Line,
                         .shown = true,
                         .hollow = false,
                         .points = {{.x = 0, .y = 0}, {.x = 1, .y = 1}}});
  return plot;
}

const std::vector<ColumnStyle> kColumns = {{.name = "one", .style = 0},
                                           {.name = "two", .style = 9}};

TEST(Svg, PutsTheEndsOfTheAxesAtTheEdgesOfTheFrame) {
  const std::string svg = as_svg(line_plot(), kColumns, "title");
  // 400 wide with margins 44 and 22; 230 high from 10 on: (0,0) is (44,240), (1,1) is (378,10).
  EXPECT_NE(svg.find("d=\"M44.0 240.0L378.0 10.0\""), std::string::npos) << svg;
}

TEST(Svg, DrawsOnlyWhatIsShown) {
  Plot plot = line_plot();
  plot.series[0].shown = false;
  EXPECT_EQ(as_svg(plot, kColumns, "t").find("class=\"line"), std::string::npos);
}

TEST(Svg, ACurveOfOnePointIsSeen) {
  Plot plot = line_plot();
  plot.series[0].points.pop_back();
  EXPECT_NE(as_svg(plot, kColumns, "t").find("<circle class=\"mark c0\""), std::string::npos);
}

TEST(Svg, EscapesNamesAndTitles) {
  Plot plot = line_plot();
  plot.references.emplace_back("<script>x</script>", 0.5);
  const std::string svg = as_svg(plot, kColumns, "\"><img onerror=x>");
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<img"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos);
}

TEST(Svg, OddAxesGiveNumbers) {
  Plot plot = line_plot();
  plot.x = {.label = "", .unit = Axis::Unit::Seconds, .log = true, .low = 1, .high = 1};
  plot.y = {.label = "", .unit = Axis::Unit::Share, .log = false, .low = 0.5, .high = 0.5};
  plot.series[0].points = {{.x = 0, .y = 2}, {.x = 1e9, .y = -1}};
  const std::string svg = as_svg(plot, kColumns, "t");
  EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
}

TEST(Svg, AStyleIsAColourADashAndAMarker) {
  const std::string nine = swatch(9, false);  // 9 = 1 + 8: second colour, second dash, marker 3
  EXPECT_NE(nine.find("class=\"line c1 d1\""), std::string::npos) << nine;
  EXPECT_NE(nine.find("<polygon class=\"mark c1\""), std::string::npos) << nine;
}

TEST(Svg, IntervalBarPlacesTheShareBetweenItsEnds) {
  // 3 to 97 stand for 0 to 1: .5 is 50, .25 is 26.5, .75 is 73.5.
  const std::string bar = interval_bar(0.5, 0.25, 0.75, {1}, "t");
  EXPECT_NE(bar.find("d=\"M26.5 7H73.5\""), std::string::npos) << bar;
  EXPECT_NE(bar.find("cx=\"50.0\""), std::string::npos) << bar;
  EXPECT_NE(bar.find("class=\"tick\" d=\"M97.0"), std::string::npos) << bar;
  EXPECT_EQ(interval_bar(std::nullopt, 0, 1, {}, "t").find("circle"), std::string::npos);
}

TEST(Ticks, AreRoundAndInsideTheAxis) {
  const Axis shares{.label = "", .unit = Axis::Unit::Share, .log = false, .low = 0, .high = 1};
  EXPECT_EQ(axis_ticks(shares).size(), 6U);  // 0 .2 .4 .6 .8 1
  const Axis seconds{
      .label = "", .unit = Axis::Unit::Seconds, .log = true, .low = 0.015, .high = 0.6};
  EXPECT_EQ(axis_ticks(seconds).size(), 5U);  // 20 50 100 200 500 ms
  EXPECT_EQ(axis_value(seconds, 0.02), "20 ms");
  EXPECT_EQ(axis_value(seconds, 2), "2 s");
  const Axis narrow{
      .label = "", .unit = Axis::Unit::Seconds, .log = true, .low = 0.18, .high = 0.62};
  EXPECT_EQ(axis_ticks(narrow).size(), 3U);  // 200 300 500 ms
  EXPECT_EQ(axis_value(shares, 0.4), ".4");
  const Axis places{.label = "",
                    .unit = Axis::Unit::Count,
                    .log = false,
                    .low = 0.5,
                    .high = 13.5,
                    .last = "13+"};
  EXPECT_EQ(axis_value(places, 12), "12");
  EXPECT_EQ(axis_value(places, 13), "13+");
}

}  // namespace
}  // namespace deem::report
