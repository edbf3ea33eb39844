// Prompts, probabilities and confidences of the reference bench's stored rows, made again from its
// kit and from the rows' raw numbers. Skipped where the reference folder is not there.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "codec/json.h"
#include "decision/layout.h"
#include "decision/letters.h"
#include "decision/readout.h"
#include "decision/written.h"

namespace deem::decision {
namespace {

using codec::Json;

const std::string kFolder = DEEM_SOURCE_DIR "/../shared/reference/";

Json load(const std::string& name) {
  const auto bytes = read_file(kFolder + name);
  EXPECT_TRUE(bytes) << name;
  const auto json = codec::parse_json(bytes.value_or("null"));
  EXPECT_TRUE(json) << name;
  return json.value_or(Json());
}

struct Asked {
  std::string state;
  Question question;
};

/// Every item's state and question by id, put together as run.py's task_a, task_b and task_c do.
std::map<std::string, Asked> load_items() {
  const Json articles = load("kit/articles.json");
  std::map<std::string, Asked> items;
  const auto text = [](const Json& item, const char* key) { return *item.get_string(key); };
  const Json task_a = load("kit/task_a.json");
  for (const Json& item : task_a.items()) {
    items[text(item, "id")] = {
        .state = text(*articles.find(text(item, "slug")), "state"),
        .question = {.type = QuestionType::Noul,
                     .instructions = "Does the article in the state answer this reader's "
                                     "question? Question: " +
                                     text(item, "question"),
                     .options = {{"yes", "The article answers the question.", ""},
                                 {"no", "The article does not answer the question.", ""}}}};
  }
  const Json task_b = load("kit/task_b.json");
  for (const Json& item : task_b.items()) {
    const Json& article = *articles.find(text(item, "slug"));
    std::map<std::string, std::string> headings;
    for (const Json& section : article.find("sections")->items()) {
      headings[text(section, "id")] = text(section, "heading");
    }
    Asked& asked = items[text(item, "id")];
    asked.state = text(article, "state");
    asked.question.instructions =
        "Which section of the article in the state contains the answer to this reader's question? "
        "Question: " +
        text(item, "question");
    for (const Json& id : item.find("options")->items()) {
      const auto heading = headings.find(id.as_string());
      asked.question.options.push_back(
          {id.as_string(), heading == headings.end() ? id.as_string() : heading->second, ""});
    }
  }
  std::map<std::string, std::string> roster;
  const Json manifest = load("kit/manifest.json");
  for (const Json& guest : manifest.find("c_roster")->items()) {
    roster[text(guest, "id")] = text(guest, "name");
  }
  const Json task_c = load("kit/task_c.json");
  for (const Json& item : task_c.items()) {
    Asked& asked = items[text(item, "id")];
    asked.question.instructions =
        "Six people are at a dinner table. Which of them said the line below?\nLine: " +
        text(item, "text");
    std::string names;
    for (const Json& id : item.find("options")->items()) {
      const std::string& name = roster.at(id.as_string());
      asked.question.options.push_back({id.as_string(), name, ""});
      names += (names.empty() ? "" : ", ") + name;
    }
    asked.state = "A dinner table with six guests: " + names + ".";
  }
  return items;
}

std::vector<Json> load_rows() {
  std::vector<Json> rows;
  const std::vector<std::string> names = list_folder(kFolder + "rows").value();
  for (const std::string& name : names) {
    if (!name.ends_with(".jsonl")) continue;
    const std::string bytes = read_file(kFolder + "rows/" + name).value();
    for (const std::string_view line : split(bytes, '\n')) {
      if (line.empty()) continue;
      auto row = codec::parse_json(line);
      EXPECT_TRUE(row) << name;
      if (row && row->find("prompt_sha256") != nullptr) rows.push_back(*std::move(row));
    }
  }
  return rows;
}

class ReferenceRows : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_folder(kFolder)) GTEST_SKIP() << "no reference folder beside the source";
    rows_ = load_rows();
    ASSERT_GT(rows_.size(), 500U);
  }
  std::vector<Json> rows_;
};

TEST_F(ReferenceRows, PromptsAreByteIdentical) {
  const auto items = load_items();
  const Layout layout = reference_layout();
  for (const Json& row : rows_) {
    const Asked& asked = items.at(*row.get_string("id"));
    const std::string prompt =
        render_letters(layout, asked.state, asked.question, asked.question.options);
    EXPECT_EQ(sha256_hex(prompt), *row.get_string("prompt_sha256")) << *row.get_string("id");
    EXPECT_EQ(static_cast<std::int64_t>(count_code_points(prompt)), *row.get_int("prompt_chars"));
  }
}

/// The row's probabilities made again from its raw numbers under the reference's rules.
std::vector<double> probabilities_of(const Json& row, std::size_t n) {
  std::vector<double> p;
  if (const Json* letters = row.find("letter_logprobs")) {
    LettersReading reading;
    for (const Json& logprob : letters->items()) {
      reading.logprobs.push_back(logprob.is_null() ? std::nullopt
                                                   : std::optional(logprob.as_double()));
    }
    const Filled filled = fill_missing(reading, LetterPolicy::Reference);
    EXPECT_EQ(filled.floored.size(), row.find("floored")->items().size());
    p = softmax(filled.logprobs, Constants{}.temperature);
  } else {
    const auto answer = parse_written_reference(*row.get_string("generated"), n);
    EXPECT_EQ(answer.option.has_value(), *row.get_bool("parsed"));
    p.assign(n, answer.option ? 0.0 : 1 / static_cast<double>(n));
    if (answer.option) p[*answer.option] = 1;
  }
  if (row.get_string("task") == "a") {
    const double yes = calibrate_noul(p[0], Constants{});
    p = {yes, 1 - yes};
  }
  return p;
}

TEST_F(ReferenceRows, ProbabilitiesComeOutDigitForDigit) {
  for (const Json& row : rows_) {
    const auto& stored = row.find("probs")->members();
    if (stored.size() != static_cast<std::size_t>(*row.get_int("n_options"))) continue;
    const auto p = probabilities_of(row, stored.size());
    ASSERT_EQ(p.size(), stored.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(p[i], stored[i].second.as_double()) << *row.get_string("id");
    }
    EXPECT_EQ(stored[argmax(p)].first, *row.get_string("choice"));
    EXPECT_EQ(confidence_typesafe_choice(p), *row.get_double("confidence"));
  }
}

}  // namespace
}  // namespace deem::decision
