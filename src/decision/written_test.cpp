#include "decision/written.h"

#include <gtest/gtest.h>

namespace deem::decision {
namespace {

std::vector<Option> numbered(std::size_t n) {
  std::vector<Option> options;
  for (std::size_t i = 0; i < n; ++i) {
    options.push_back({"part-" + std::to_string(i), "Heading number " + std::to_string(i), ""});
  }
  return options;
}

/// The option sets the cases are asked with.
std::vector<Option> options_of(std::string_view set) {
  if (set == "noul") {
    return {{"yes", "The article answers the question.", ""},
            {"no", "The article does not answer the question.", ""}};
  }
  if (set == "sections") {  // A–D
    return {{"wheel", "The Water Wheel", "The Water Wheel\n\nIt is made of oak."},
            {"tide_mill", "Tide mill", "Tide mill\n\nIt turns twice a day."},
            {"eels", "Eel fishing", "Eel fishing\n\nThe mill closes."},
            {"night", "Night work", "Night work\n\nLanterns are lit."}};
  }
  if (set == "people") {  // A–I
    return {{"bramble", "Bramble Oakes, who keeps bees", ""},
            {"ines", "Inês Carvalho, a ship's pilot", ""},
            {"tobias", "Tobias Wren, a clockmaker", ""},
            {"marguerite", "Marguerite d'Aubigné, a baker", ""},
            {"osei", "Osei Boateng, a surveyor", ""},
            {"yuki", "Yuki 雪 Tanaka, a paper maker", ""},
            {"halvard", "Halvard Strøm, an ice cutter", ""},
            {"pell", "Old Pell, a toll keeper", ""},
            {"mara", "Mara Lind, a weaver", ""}};
  }
  if (set == "levels") return {{"0", "poor", ""}, {"1", "fair", ""}, {"2", "good", ""}};
  if (set == "twins") return {{"a1", "The mill", ""}, {"a2", "The mill", ""}};
  if (set == "of26") return numbered(26);
  if (set == "of27") return numbered(27);
  if (set == "of34") return numbered(34);
  if (set == "of52") return numbered(52);
  return {};
}

constexpr int kNone = -1;

struct WrittenCase {
  const char* set;
  const char* reply;
  int want;
  WrittenHow how = WrittenHow::Unparsed;
};
void PrintTo(const WrittenCase& c, std::ostream* out) { *out << c.set << ": " << c.reply; }

class Written : public testing::TestWithParam<WrittenCase> {};

TEST_P(Written, FindsWhatIsStated) {
  const auto& c = GetParam();
  const WrittenAnswer answer = parse_written(c.reply, options_of(c.set));
  EXPECT_EQ(answer.option ? static_cast<int>(*answer.option) : kNone, c.want)
      << "as " << to_string(answer.how);
  EXPECT_EQ(to_string(answer.how), to_string(c.how));
}

using enum WrittenHow;

INSTANTIATE_TEST_SUITE_P(
    BareLetters, Written,
    testing::Values(
        WrittenCase{"sections", "B", 1, Letter}, WrittenCase{"sections", "B.", 1, Letter},
        WrittenCase{"sections", " B", 1, Letter}, WrittenCase{"sections", "\nB\n", 1, Letter},
        WrittenCase{"sections", "(b)", 1, Letter}, WrittenCase{"sections", "[B]", 1, Letter},
        WrittenCase{"sections", "**B**", 1, Letter}, WrittenCase{"sections", "__B__", 1, Letter},
        WrittenCase{"sections", "`B`", 1, Letter}, WrittenCase{"sections", "# B", 1, Letter},
        WrittenCase{"sections", "> **B.**", 1, Letter}, WrittenCase{"sections", "b", 1, Letter},
        WrittenCase{"sections", "a", 0, Letter}, WrittenCase{"sections", "\"B\"", 1, Letter},
        WrittenCase{"sections", "“B”", 1, Letter}, WrittenCase{"sections", "‘B’", 1, Letter},
        WrittenCase{"sections", "«B»", 1, Letter}, WrittenCase{"sections", "Ｂ", 1, Letter},
        WrittenCase{"sections", "（B）", 1, Letter}, WrittenCase{"sections", "$B$", 1, Letter},
        WrittenCase{"sections", "B!", 1, Letter}, WrittenCase{"sections", "- B", 1, Letter},
        WrittenCase{"sections", "Z", kNone}, WrittenCase{"sections", "E.", kNone},
        WrittenCase{"people", "I", 8, Letter}, WrittenCase{"people", "(I)", 8, Letter},
        WrittenCase{"sections", "B<|im_end|>", 1, Letter},
        WrittenCase{"sections", "B</s>", 1, Letter},
        WrittenCase{"sections", "B<end_of_turn>\nA", 1, Letter},
        WrittenCase{"sections", "B\n<|endoftext|>Question: A", 1, Letter},
        WrittenCase{"sections", "</think>B", 1, Letter},
        WrittenCase{"sections", "<think>A or C? A.</think>\n\nB", 1, Letter},
        WrittenCase{"sections", "<think>Perhaps A. Or", kNone},
        WrittenCase{"sections", "thought\nmaybe A<channel|>B", 1, Letter},
        WrittenCase{"sections", "<|channel|>analysis<|message|>A?<|channel|>final<|message|>B", 1,
                    Letter}));

INSTANTIATE_TEST_SUITE_P(
    LetterFirst, Written,
    testing::Values(
        WrittenCase{"sections", "B) tide_mill", 1, Letter},
        WrittenCase{"sections", "B: Tide mill", 1, Letter},
        WrittenCase{"sections", "[B] tide_mill: Tide mill", 1, Letter},
        WrittenCase{"sections", "B. It says that it turns twice a day.", 1, Letter},
        WrittenCase{"sections", "B, because it turns twice a day", 1, Letter},
        WrittenCase{"sections", "B because it turns twice a day", 1, Letter},
        WrittenCase{"sections", "B is the best option.", 1, Letter},
        WrittenCase{"sections", "A is the best option.", 0, Letter},
        WrittenCase{"sections", "B — it turns", 1, Letter},
        WrittenCase{"sections", "B - Tide mill", 1, Letter},
        WrittenCase{"sections", "B tide mill", 1, Letter},
        WrittenCase{"sections", "B\n\nThe section says so.", 1, Letter},
        WrittenCase{"sections", "A wheel", 0, Key}, WrittenCase{"sections", "A tide mill", 1, Key},
        WrittenCase{"sections", "A good question", kNone},
        WrittenCase{"sections", "A question about eels and mills", kNone},
        WrittenCase{"sections", "a question", kNone}, WrittenCase{"sections", "D'accord", kNone},
        WrittenCase{"sections", "A-level", kNone}, WrittenCase{"sections", "C++", kNone},
        WrittenCase{"sections", "B/C", kNone},
        WrittenCase{"sections", "B.C. is when it was", kNone},
        WrittenCase{"people", "I think so", kNone},
        WrittenCase{"people", "I, for one, pass", kNone},
        WrittenCase{"people", "I can't tell", kNone}, WrittenCase{"people", "I’m not sure", kNone},
        WrittenCase{"people", "I would not say", kNone},
        WrittenCase{"people", "I can't tell from this.", kNone}));

INSTANTIATE_TEST_SUITE_P(
    Stated, Written,
    testing::Values(
        WrittenCase{"sections", "Answer: B", 1, StatedLetter},
        WrittenCase{"sections", "answer: b", 1, StatedLetter},
        WrittenCase{"sections", "**Answer:** B", 1, StatedLetter},
        WrittenCase{"sections", "Answer:\n\n(B)", 1, StatedLetter},
        WrittenCase{"sections", "Answer - B", 1, StatedLetter},
        WrittenCase{"sections", "Answer B", 1, StatedLetter},
        WrittenCase{"sections", "Final answer = B.", 1, StatedLetter},
        WrittenCase{"sections", "The answer is C.", 2, StatedLetter},
        WrittenCase{"sections", "The answer is (C)", 2, StatedLetter},
        WrittenCase{"sections", "The correct answer is: **D**", 3, StatedLetter},
        WrittenCase{"sections", "The answer is a.", 0, StatedLetter},
        WrittenCase{"sections", "The answer to the question is A", 0, StatedLetter},
        WrittenCase{"sections", "My answer would be option D, as told.", 3, StatedLetter},
        WrittenCase{"sections", "The best option is [D]", 3, StatedLetter},
        WrittenCase{"sections", "Option B", 1, StatedLetter},
        WrittenCase{"sections", "Option A seems right", 0, StatedLetter},
        WrittenCase{"sections", "I choose B.", 1, StatedLetter},
        WrittenCase{"sections", "I would pick A because it fits", 0, StatedLetter},
        WrittenCase{"sections", "Letter: C", 2, StatedLetter},
        WrittenCase{"sections", "the letter is C", 2, StatedLetter},
        WrittenCase{"sections", "The letter of the best option is C", 2, StatedLetter},
        WrittenCase{"sections", "It is in section D", 3, StatedLetter},
        WrittenCase{"sections", "Based on the text, A", 0, StatedLetter},
        WrittenCase{"sections", "Based on the text, the answer is B", 1, StatedLetter},
        WrittenCase{"sections", "Based on the text:\nB", 1, Letter},
        WrittenCase{"sections", "It turns twice a day, so B.", 1, StatedLetter},
        WrittenCase{"sections", "That must be (B) then", 1, StatedLetter},
        WrittenCase{"sections", "$\\boxed{B}$", 1, StatedLetter},
        WrittenCase{"sections", "So we have \\boxed{\\text{C}}.", 2, StatedLetter},
        WrittenCase{"sections", "{\"answer\":\"B\"}", 1, StatedLetter},
        WrittenCase{"sections", "```json\n{\"answer\": \"B\"}\n```", 1, StatedLetter},
        WrittenCase{"sections", "{\"reason\": \"A good fit\", \"answer\": \"D\"}", 3, StatedLetter},
        WrittenCase{"sections", "{\"choice\": \"tide_mill\"}", 1, Key},
        WrittenCase{"sections", "<answer>B</answer>", 1, StatedLetter},
        WrittenCase{"sections", "The answer is tide mill.", 1, Key},
        WrittenCase{"sections", "The answer is the night section.", 3, Key},
        WrittenCase{"sections", "The answer is A tide mill", 1, Key},
        WrittenCase{"sections", "Vitamin A", kNone}, WrittenCase{"sections", "Answer: Z", kNone},
        WrittenCase{"sections", "The answer is a good one", kNone},
        WrittenCase{"sections", "The answer is not B", kNone},
        WrittenCase{"sections", "It is not option B", kNone},
        WrittenCase{"sections", "It isn't option B; it's C", 2, StatedLetter},
        WrittenCase{"sections", "The answer is not given.", kNone},
        WrittenCase{"sections", "The text does not directly say which", kNone},
        WrittenCase{"sections", "Based on the text, A mill was built", kNone},
        WrittenCase{"people", "The answer I would give", kNone}));

INSTANTIATE_TEST_SUITE_P(
    SeveralStatements, Written,
    testing::Values(
        WrittenCase{"sections", "A or B", kNone}, WrittenCase{"sections", "A, B", kNone},
        WrittenCase{"sections", "Both (A) and (B)", kNone},
        WrittenCase{"sections", "Answer: A or B", kNone},
        WrittenCase{"sections", "Answer: A, C", kNone},
        WrittenCase{"sections", "Option A or option C", kNone},
        WrittenCase{"sections", "It is between A and B.", kNone},
        WrittenCase{"sections", "[A] wheel: no\n[B] tide_mill: no", kNone},
        WrittenCase{"sections", "A. The Water Wheel\nB. Tide mill", kNone},
        WrittenCase{"sections", "{\"A\": 0.7, \"B\": 0.3}", kNone},
        WrittenCase{"sections", "A) Tide mill", kNone},
        WrittenCase{"sections", "B. The answer is in section B.", 1, StatedLetter},
        WrittenCase{"sections", "Option A looks good but the answer is B", 1, StatedLetter},
        WrittenCase{"sections", "Answer: A. No, wait, the answer is B.", 1, StatedLetter},
        WrittenCase{"sections", "The answer is B, though it could be A", 1, StatedLetter},
        WrittenCase{"noul", "A) No", kNone}, WrittenCase{"noul", "B) No", 1, Letter},
        WrittenCase{"noul", "Yes and no", kNone}, WrittenCase{"noul", "yes/no", kNone}));

INSTANTIATE_TEST_SUITE_P(
    YesAndNo, Written,
    testing::Values(
        WrittenCase{"noul", "yes", 0, YesNo}, WrittenCase{"noul", "Yes.", 0, YesNo},
        WrittenCase{"noul", "No", 1, YesNo}, WrittenCase{"noul", "No.", 1, YesNo},
        WrittenCase{"noul", "**NO**", 1, YesNo},
        WrittenCase{"noul", "Yes, the article does.", 0, YesNo},
        WrittenCase{"noul", "Yes the article does", 0, YesNo},
        WrittenCase{"noul", "No, it does not say.", 1, YesNo},
        WrittenCase{"noul", "No, the article does not answer", 1, YesNo},
        WrittenCase{"noul", "No the article does not", 1, YesNo},
        WrittenCase{"noul", "Answer: yes", 0, YesNo},
        WrittenCase{"noul", "The answer is no.", 1, YesNo},
        WrittenCase{"noul", "{\"answer\": \"no\"}", 1, YesNo}, WrittenCase{"noul", "A", 0, Letter},
        WrittenCase{"noul", "[B] no", 1, Letter}, WrittenCase{"noul", "A. Yes", 0, Letter},
        WrittenCase{"noul", "The article answers the question.", 0, Words},
        WrittenCase{"noul", "The article does not answer the question.", 1, Words},
        WrittenCase{"noul", "The article does not ans", 1, Words},
        WrittenCase{"noul", "The article", kNone}, WrittenCase{"noul", "No idea", kNone},
        WrittenCase{"noul", "The answer is no longer clear", kNone},
        WrittenCase{"noul", "Not sure", kNone}, WrittenCase{"noul", "None", kNone},
        WrittenCase{"noul", "A good question", kNone}, WrittenCase{"sections", "Yes", kNone}));

INSTANTIATE_TEST_SUITE_P(
    OwnWords, Written,
    testing::Values(
        WrittenCase{"sections", "tide mill", 1, Key}, WrittenCase{"sections", "tide_mill", 1, Key},
        WrittenCase{"sections", "Tide-Mill.", 1, Key}, WrittenCase{"sections", "eels", 2, Key},
        WrittenCase{"sections", "Eel fishing", 2, Words},
        WrittenCase{"sections", "The Water Wheel", 0, Words},
        WrittenCase{"sections", "The tide mill section", 1, Key},
        WrittenCase{"sections", "I think it is the tide mill.", 1, Key},
        WrittenCase{"sections", "Tide mill, because it turns", 1, Key},
        WrittenCase{"sections", "It's \"Eel fishing\"", 2, Words},
        WrittenCase{"sections", "Tide mill\n\nIt turns twice a day.", 1, Words},
        WrittenCase{"sections", "not the tide mill", kNone},
        WrittenCase{"sections", "At night the mill closes", kNone},
        WrittenCase{"people", "Halvard", 6, Key}, WrittenCase{"people", "Halvard Strøm", 6, Words},
        WrittenCase{"people", "Halvard Strøm, an ice cutter", 6, Words},
        WrittenCase{"people", "Halvard said it.", 6, Key},
        WrittenCase{"people", "Old Pell, a toll", 7, Words},
        WrittenCase{"people", "Inês Carvalho", 1, Words},
        WrittenCase{"people", "Marguerite d’Aubigné", 3, Words},
        WrittenCase{"people", "Yuki 雪 Tanaka", 5, Words},
        WrittenCase{"people", "Halvard or Ines", kNone}, WrittenCase{"levels", "2", 2, Key},
        WrittenCase{"levels", "Level 1", 1, Key}, WrittenCase{"levels", "Rating: 2", 2, Key},
        WrittenCase{"levels", "Answer: 0.", 0, Key}, WrittenCase{"levels", "good", 2, Words},
        WrittenCase{"levels", "2/3", kNone}, WrittenCase{"levels", "42", kNone},
        WrittenCase{"twins", "The mill", kNone}, WrittenCase{"twins", "a2", 1, Key}));

INSTANTIATE_TEST_SUITE_P(
    ManyOptions, Written,
    testing::Values(WrittenCase{"of26", "(b)", 1, Letter}, WrittenCase{"of27", "a", 26, Letter},
                    WrittenCase{"of27", "(b)", 1, Letter}, WrittenCase{"of34", "(b)", 27, Letter},
                    WrittenCase{"of34", "B", 1, Letter}, WrittenCase{"of34", "h", 33, Letter},
                    WrittenCase{"of34", "i", 8, Letter},
                    WrittenCase{"of34", "the letter is C", 2, StatedLetter},
                    WrittenCase{"of34", "The answer is h.", 33, StatedLetter},
                    WrittenCase{"of34", "Answer: **e**", 30, StatedLetter},
                    WrittenCase{"of34", "a question", kNone},
                    WrittenCase{"of34", "I can't tell", kNone}, WrittenCase{"of34", "N/A", kNone},
                    WrittenCase{"of34", "Б — 第2", kNone}, WrittenCase{"of52", "z", 51, Letter},
                    WrittenCase{"of52", "Z", 25, Letter}, WrittenCase{"of52", "[a]", 26, Letter},
                    WrittenCase{"of52", "part-7", 7, Key}, WrittenCase{"of52", "Part 7", 7, Key},
                    WrittenCase{"of52", "I’d say y'all know", kNone}));

INSTANTIATE_TEST_SUITE_P(
    NoAnswer, Written,
    testing::Values(WrittenCase{"sections", "", kNone}, WrittenCase{"sections", " \n ", kNone},
                    WrittenCase{"sections", "...", kNone}, WrittenCase{"sections", "**", kNone},
                    WrittenCase{"sections", "None of the options", kNone},
                    WrittenCase{"sections", "As an AI, I cannot choose.", kNone},
                    WrittenCase{"sections", "I'm sorry, but I can't help with that.", kNone},
                    WrittenCase{"sections", "Sure! Here is", kNone},
                    WrittenCase{"sections", "The article describes a mill and", kNone},
                    WrittenCase{"sections", "\xff\xfe\x80", kNone},
                    WrittenCase{"sections", "<|im_end|>", kNone},
                    WrittenCase{"sections", "answer", kNone}, WrittenCase{"nothing", "A", kNone}));

TEST(WrittenReference, TakesTheFirstCharacterThatIsAnyLetter) {
  // NOTES.md defect 4, each as run.py answers.
  const auto pick = [](const char* reply, std::size_t n) {
    return parse_written_reference(reply, n).option;
  };
  EXPECT_EQ(pick("Answer: B", 2), 0U);
  EXPECT_EQ(pick("Based on the text, A", 2), 1U);
  EXPECT_EQ(pick("I can't tell", 9), 8U);
  EXPECT_EQ(pick("the letter is C", 34), 33U);
  EXPECT_EQ(pick("no", 2), std::nullopt);
  EXPECT_EQ(pick("a", 2), std::nullopt);
  EXPECT_EQ(pick("", 2), std::nullopt);
  EXPECT_EQ(parse_written_reference("B", 2).how, Reference);
  EXPECT_EQ(parse_written_reference("x", 2).how, Unparsed);
}

TEST(WrittenSpeed, LongRepliesEndQuickly) {
  std::string reply;
  for (int i = 0; i < 1'500; ++i) reply += "answer is the option ";
  ASSERT_LT(reply.size(), kMostWritten);
  EXPECT_EQ(parse_written(reply, options_of("of52")).how, Unparsed);
}

TEST(WrittenSpeed, RepliesBeyondAllBoundsStateNothing) {
  std::string reply = "Answer: B\n";
  while (reply.size() + 2 <= kMostWritten) reply += "Z\n";
  EXPECT_EQ(parse_written(reply, options_of("sections")).option, 1U);
  reply += "Z\n";
  EXPECT_EQ(parse_written(reply, options_of("sections")).how, Unparsed);
  // What a model thought before it answered is no part of that.
  EXPECT_EQ(parse_written("<think>" + reply + "</think>Answer: B", options_of("sections")).option,
            1U);
}

}  // namespace
}  // namespace deem::decision
