// Random rows of the kinds the reference bench writes, and odder ones, against run.py itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "score/seed_lines.h"

namespace deem::score {
namespace {

namespace fs = std::filesystem;

/// Deterministic choice; the standard distributions differ between libraries.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  template <std::size_t N>
  std::string pick(const std::array<const char*, N>& texts) {
    return texts[below(N)];
  }

 private:
  std::mt19937_64 engine_;
};

std::string shortest(double value) {
  std::array<char, 40> text{};
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  std::string out = text.data();
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

std::string any_value(Dice& dice) {
  return dice.pick(std::array{"null",
                              "true",
                              "false",
                              "0",
                              "1",
                              "-0",
                              "0.0",
                              "-0.0",
                              "2.5",
                              "\"\"",
                              "\"x\"",
                              "\"yes\"",
                              "\"1\"",
                              "[]",
                              "{}",
                              "[0]",
                              "[0, 1]",
                              "NaN",
                              "Infinity",
                              "{\"a\": [NaN, 1.0]}",
                              "{\"a\": [NaN, true]}",
                              "[{\"a\": 1, \"b\": 2}]",
                              "[{\"b\": 2.0, \"a\": true}]",
                              "1.0",
                              "1e0",
                              "\"\\u0079es\"",
                              "\"\\ud83d\\ude00\"",
                              "\"\\udc00\"",
                              "\"答\"",
                              "12345678901234567890123",
                              "1.2345678901234568e22",
                              "0.5",
                              "1e-400"});
}

std::string number(Dice& dice) {
  switch (dice.below(12)) {
    case 0:
      return std::to_string(dice.below(4));
    case 1:
      return dice.pick(std::array{"0.0", "-0.0", "0", "-0", "1", "1.0", "true", "false", "1e0"});
    case 2:
      return dice.pick(std::array{"1e-05",
                                  "0.0001",
                                  "1e16",
                                  "123456789012345678.0",
                                  "5e-324",
                                  "1.7976931348623157e308",
                                  "2.2250738585072014E-308",
                                  "1e22",
                                  "9007199254740993",
                                  "9007199254740993.0",
                                  "1e400",
                                  "-1e400",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "0.30000000000000004",
                                  "3.14159265358979323846264338327950288",
                                  "9999999999999998.0",
                                  "1E5",
                                  "1e+5",
                                  "-1.5",
                                  "-5"});
    case 3:
      return dice.one_in(4) ? dice.pick(std::array{"NaN", "Infinity", "-Infinity"}) : "0.25";
    default:
      return shortest(dice.unit() * (dice.one_in(3) ? 10 : 0.1));
  }
}

std::string probability(Dice& dice, bool odd) {
  if (!odd || !dice.one_in(6)) {
    return dice.one_in(5) ? shortest(static_cast<double>(dice.below(11)) / 10)
                          : shortest(dice.unit());
  }
  return dice.pick(std::array{"0",
                              "1",
                              "true",
                              "-0.05",
                              "-0.15",
                              "-1.0",
                              "-1.05",
                              "-1.1",
                              "1.5",
                              "NaN",
                              "0.8999999999999999",
                              "0.7999999999999999",
                              "1e8",
                              "1e-200",
                              "1e200",
                              "Infinity",
                              "-Infinity",
                              "null",
                              "\"0.5\"",
                              "1e-163",
                              "3",
                              "1e154",
                              "1.3407807929942597e154",
                              "false",
                              "-0.0",
                              "[0.5]"});
}

std::string probs(Dice& dice, bool odd) {
  std::string out = "{";
  const std::size_t n = odd && dice.one_in(8) ? 0 : 2 + dice.below(dice.one_in(6) ? 40 : 4);
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) out += ", ";
    std::string key = "o" + std::to_string(odd && dice.one_in(15) ? dice.below(3) : i);
    if (odd && dice.one_in(20)) key = "\\u006f" + std::to_string(i);
    if (odd && dice.one_in(20)) key = "";
    out += "\"" + key + "\":";
    if (!odd || !dice.one_in(10)) out += ' ';
    out += probability(dice, odd);
  }
  return out + "}";
}

std::string text_key(Dice& dice) { return "\"o" + std::to_string(dice.below(4)) + "\""; }

std::string row(Dice& dice, bool odd) {
  std::vector<std::pair<std::string, std::string>> members;
  const auto odd_now = [&dice, odd](std::size_t n) { return odd && dice.one_in(n); };
  const auto add = [&](std::string key, std::string value) {
    if (odd_now(40)) return;
    members.emplace_back(std::move(key), std::move(value));
  };
  add("prompt_sha256", "\"11b2e5a50651e421e5e581bedf684ac5dd1c7d4de21edb62a6841ae59716ce77\"");
  add("prompt_chars", std::to_string(dice.below(5000)));
  add("mode", odd_now(10) ? any_value(dice) : dice.one_in(2) ? "\"readout\"" : "\"generate\"");
  add("letter_logprobs", "[null, " + shortest(-dice.unit()) + ", -1e-10]");
  if (dice.one_in(2))
    add("floored", odd_now(6) ? any_value(dice) : dice.pick(std::array{"[]", "[0]", "[0, 1, 2]"}));
  if (dice.one_in(3))
    add("top0_token", dice.pick(std::array{"\"答\"", "\" A\"", "\"\\n\"", "\"\\\"\"", "\"\\\\\"",
                                           "\"\\ud800\""}));
  if (dice.one_in(2))
    add("parsed", odd_now(5) ? any_value(dice) : dice.pick(std::array{"true", "false"}));
  add("choice", odd_now(8) ? any_value(dice) : text_key(dice));
  add("probs", odd_now(20) ? any_value(dice) : probs(dice, odd && dice.one_in(3)));
  add("confidence", shortest(dice.unit()));
  if (!odd_now(10)) add("seconds", odd ? number(dice) : shortest(dice.unit()));
  add("prompt_tokens", odd_now(3)       ? number(dice)
                       : dice.one_in(9) ? "null"
                                        : std::to_string(dice.below(2000)));
  add("eval_tokens", odd_now(3) ? number(dice) : "1");
  add("done_reason", "\"length\"");
  add("label", odd_now(5) ? any_value(dice) : dice.one_in(9) ? "null" : text_key(dice));
  if (odd_now(5)) add("error", any_value(dice));
  if (dice.one_in(12))
    add("refused",
        odd_now(3) ? any_value(dice)
                   : dice.pick(std::array{"\"overlong\"", "\"\"", "null", "\"answer\\u0000\""}));
  if (odd_now(4) && !members.empty()) members.push_back(members[dice.below(members.size())]);
  if (odd_now(6) && members.size() > 1)
    std::swap(members[dice.below(members.size())], members[dice.below(members.size())]);
  std::string out = odd_now(20) ? " \t{" : "{";
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += odd_now(12) ? "," : odd_now(12) ? " ,\t" : ", ";
    out += "\"" + members[i].first + "\"" + (odd_now(12) ? " :" : ":") + (odd_now(12) ? "" : " ");
    out += members[i].second;
  }
  return out + (odd_now(20) ? "} " : "}");
}

std::string file_of_rows(Dice& dice) {
  const bool odd = !dice.one_in(3);
  const std::size_t n = dice.one_in(8) ? 150 + dice.below(300) : 1 + dice.below(odd ? 5 : 40);
  const std::string end = odd ? dice.pick(std::array{"\n", "\n", "\n", "\r\n", "\r"}) : "\n";
  std::string bytes;
  for (std::size_t i = 0; i < n; ++i) {
    // Long files stay scorable, so that sorting and summing see many odd values.
    bytes += row(dice, odd && (n < 100 || dice.one_in(400)));
    if (n >= 100 && odd) {
      // A last `seconds` wins over the first: long lists of every kind of number.
      bytes.back() = ',';
      bytes += " \"seconds\": " + number(dice) + ", \"prompt_tokens\": " + number(dice) + "}";
    }
    if (i + 1 < n || !dice.one_in(4)) bytes += end;
  }
  if (dice.one_in(30))
    bytes.insert(bytes.size() / 2, dice.pick(std::array{"\n\n", "\xff", "\x01", "x"}));
  if (dice.one_in(30)) bytes.pop_back();
  if (dice.one_in(40)) bytes.insert(0, "\xef\xbb\xbf");
  return bytes;
}

/// What run.py prints of each file, or CRASH where scoring it ends in a traceback.
std::map<std::string, std::string> run_reference(const fs::path& run_py, const fs::path& folder) {
  const std::string script =
      "import sys, os, json, importlib.util as u\n"
      "sys.dont_write_bytecode = True\n"
      "s = u.spec_from_file_location('run', sys.argv[1]); m = u.module_from_spec(s)\n"
      "sys.modules['run'] = m; s.loader.exec_module(m)\n"
      "for f in sorted(os.listdir(sys.argv[2])):\n"
      "  try:\n"
      "    rows = [json.loads(l) for l in open(os.path.join(sys.argv[2], f), encoding='utf-8')]\n"
      "    print(f, json.dumps(m.summarise(rows), default=str))\n"
      "  except Exception as e: print(f, 'CRASH', type(e).__name__)\n";
  const fs::path file = folder.parent_path() / "score.py";
  std::ofstream(file) << script;
  const std::string command =
      "python3.11 '" + file.string() + "' '" + run_py.string() + "' '" + folder.string() + "'";
  std::map<std::string, std::string> lines;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return lines;
  std::string all;
  std::array<char, 65536> piece{};
  for (std::size_t n = 0; (n = fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    all.append(piece.data(), n);
  pclose(pipe);
  std::istringstream in(all);
  for (std::string line; std::getline(in, line);) lines[line.substr(0, line.find(' '))] = line;
  return lines;
}

TEST(SeedRandom, EveryFileScoresAsRunPyDoesOrIsNamed) {
  const fs::path run_py = fs::path(DEEM_SOURCE_DIR) / "../shared/reference/run.py";
  if (!fs::exists(run_py)) GTEST_SKIP() << "no reference bench beside the source";
  if (std::system("python3.11 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3.11";

  const char* seed_text = std::getenv("DEEM_TEST_SEED");
  Dice dice(seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 20261202);
  const fs::path root =
      fs::temp_directory_path() / ("deem-seed-random-" + std::to_string(::getpid()));
  const fs::path folder = root / "rows";
  fs::create_directories(folder);
  constexpr int kFiles = 150;
  for (int i = 0; i < kFiles; ++i) {
    std::ofstream(folder / (std::to_string(i) + ".jsonl"), std::ios::binary) << file_of_rows(dice);
  }
  const std::map<std::string, std::string> want = run_reference(run_py, folder);
  ASSERT_EQ(want.size(), kFiles);

  std::size_t scored = 0, crashed = 0;
  for (const std::size_t block : {std::size_t{1} << 19, std::size_t{700}}) {
    const Result<SeedReport> report =
        score_seed_folder(folder.string(), {.threads = 3, .block_bytes = block});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    std::map<std::string, std::string> got;
    for (const std::string& line : report->lines) got[line.substr(0, line.find(' '))] = line;
    for (const auto& [name, line] : want) {
      const bool crash = line.starts_with(name + " CRASH");
      (crash ? crashed : scored) += 1;
      EXPECT_EQ(got.contains(name) ? got[name] : "none", crash ? "none" : line) << name;
      const bool named = std::any_of(
          report->problems.begin(), report->problems.end(),
          [&](const std::string& p) { return p.starts_with((folder / name).string() + ":"); });
      EXPECT_EQ(named, crash) << name << ": " << line;
    }
  }
  EXPECT_GT(scored, 100U);  // or the generator says little
  EXPECT_GT(crashed, 30U);
  if (!HasFailure()) fs::remove_all(root);
}

}  // namespace
}  // namespace deem::score
