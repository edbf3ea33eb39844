// The writer against the program it imitates. Skipped where there is no python3.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/process.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/utf8.h"

namespace deem::codec {
namespace {

// Reads JSON lines, a style word before each, and prints them again.
constexpr std::string_view kEcho = R"(
import json, sys
sys.stdout.reconfigure(encoding="utf-8", newline="\n")
styles = {
    "plain": {},
    "utf8": {"ensure_ascii": False},
    "compact": {"separators": (",", ":")},
    "report": {"indent": 1, "sort_keys": True, "ensure_ascii": False},
    "census": {"indent": 2, "sort_keys": True},
}
for line in sys.stdin.buffer.read().decode("utf-8").split("\n")[:-1]:
    style, text = line.split(" ", 1)
    print(json.dumps(json.loads(text), **styles[style]) + "\x1e")
)";

struct NamedStyle {
  const char* name;
  JsonStyle style;
};
const NamedStyle kStyles[] = {
    {"plain", {}},
    {"utf8", {.ascii = false}},
    {"compact", {.compact = true}},
    {"report", {.ascii = false, .indent = 1, .sort_keys = true}},
    {"census", {.indent = 2, .sort_keys = true}},
};

// What Python makes of each line, in order.
std::vector<std::string> echo(const std::string& input) {
  const auto done = run_process({.argv = {"python3", "-S", "-c", std::string(kEcho)},
                                 .environment = {"PATH=/usr/bin:/bin", "PYTHONIOENCODING=utf-8"},
                                 .input = input,
                                 .output_limit = std::size_t{1} << 28},
                                Seconds(60));
  if (!done) return {};
  EXPECT_EQ(done->errors, "");
  EXPECT_TRUE(done->ending.succeeded());
  std::vector<std::string> texts;
  std::string_view output = done->output;
  while (!output.empty()) {
    const std::size_t end = output.find("\x1e\n");
    if (end == std::string_view::npos) return {};
    texts.emplace_back(output.substr(0, end));
    output.remove_prefix(end + 2);
  }
  return texts;
}

void expect_same(const std::vector<std::string>& got, const std::vector<std::string>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got[i], want[i]) << "value " << i;
}

bool have_python() { return !find_program("python3").empty(); }

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

// Any finite double, half of them near what rows hold.
double random_double(Random& random) {
  const double bits = std::bit_cast<double>(random());
  switch (below(random, 6)) {
    case 0:
      return static_cast<double>(below(random, 2'000'001)) / 1000.0;
    case 1:
      return std::ldexp(static_cast<double>(random() >> 11), -53);
    case 2:
      return -20 * std::ldexp(static_cast<double>(random() >> 11), -53);
    case 3:
      return std::pow(10.0, static_cast<double>(below(random, 40)) - 20);
    default:
      return std::isfinite(bits) ? bits : 0.0;
  }
}

std::string random_text(Random& random) {
  std::string text;
  for (std::size_t size = below(random, 12); size > 0; --size) {
    const std::uint32_t limits[] = {0x80, 0x100, 0x3000, 0xd800, 0x110000};
    auto point = static_cast<std::uint32_t>(below(random, limits[below(random, 5)]));
    if (point >= 0xd800 && point < 0xe000) point = '"';
    append_utf8(text, point);
  }
  return text;
}

Json random_value(Random& random, int depth) {
  switch (below(random, depth > 0 ? 10 : 7)) {
    case 0:
      return nullptr;
    case 1:
      return below(random, 2) == 0;
    case 2:
      return static_cast<std::int64_t>(random()) >> below(random, 64);
    case 3: {
      std::string digits = below(random, 2) == 0 ? "-1" : "7";
      for (std::size_t size = below(random, 80); size > 0; --size) {
        digits += static_cast<char>('0' + below(random, 10));
      }
      return Json::big_int(digits);
    }
    case 4:
      return random_double(random);
    case 5:
    case 6:
      return random_text(random);
    case 7: {
      Json array = Json::array();
      for (std::size_t size = below(random, 5); size > 0; --size) {
        array.push(random_value(random, depth - 1));
      }
      return array;
    }
    default: {
      Json object = Json::object();
      for (std::size_t size = below(random, 5); size > 0; --size) {
        object.set(random_text(random), random_value(random, depth - 1));
      }
      return object;
    }
  }
}

TEST(JsonAgainstPython, PrintsRandomFloatsAlike) {
  if (!have_python()) GTEST_SKIP() << "no python3";
  Random random(20261201);
  std::vector<std::string> want;
  std::string input;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    append_python_float(text, random_double(random));
    input += "plain " + text + "\n";
    want.push_back(text);
  }
  // Shortest forms read back to the same double, so Python's repr of what it read must be the same
  // text.
  expect_same(echo(input), want);
}

TEST(JsonAgainstPython, ReadsFloatsOfManyDigitsAlike) {
  if (!have_python()) GTEST_SKIP() << "no python3";
  Random random(7);
  std::vector<std::string> want;
  std::string input;
  for (int i = 0; i < 5'000; ++i) {
    std::string text = std::to_string(below(random, 10)) + ".";
    for (std::size_t size = 1 + below(random, 40); size > 0; --size) {
      text += static_cast<char>('0' + below(random, 10));
    }
    text += "e" + std::to_string(static_cast<int>(below(random, 660)) - 340);
    input += "plain " + text + "\n";
    want.push_back(dump_json(parse_json(text, JsonMode::Python).value()));
  }
  expect_same(echo(input), want);
}

TEST(JsonAgainstPython, PrintsRandomValuesAlikeInEveryStyle) {
  if (!have_python()) GTEST_SKIP() << "no python3";
  Random random(42);
  std::vector<std::string> want;
  std::string input;
  for (int i = 0; i < 4'000; ++i) {
    const Json value = random_value(random, 4);
    const NamedStyle& style = kStyles[below(random, std::size(kStyles))];
    input += style.name + (" " + dump_json(value)) + "\n";
    want.push_back(dump_json(value, style.style));
    ASSERT_EQ(parse_json(dump_json(value)).value(), value);
  }
  expect_same(echo(input), want);
}

TEST(JsonAgainstPython, TreatsAwkwardTextsAlike) {
  if (!have_python()) GTEST_SKIP() << "no python3";
  std::vector<std::string> want;
  std::string input;
  for (const std::string& text :
       {std::string(R"({"a": 1, "b": 2, "a": 3})"),
        std::string(R"(["\ud800", "\udc00\ud800", "\ud83d\ud83d\ude00"])"),
        std::string("[NaN, Infinity, -Infinity, 1e400, -1e400, 1e-400, -0, -0.0, 1e16, 1E+2]"),
        std::string(4'300, '9'), "-" + std::string(4'300, '9'),
        std::string("\"\x7f/\\/\\u007f\u2028\""), std::string(R"({"\u0061": 1, "a": 2})")}) {
    input += "plain " + text + "\n";
    want.push_back(dump_json(parse_json(text, JsonMode::Python).value()));
  }
  expect_same(echo(input), want);
}

}  // namespace
}  // namespace deem::codec
