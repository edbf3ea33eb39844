#include "codec/csv.h"

#include <gtest/gtest.h>

namespace deem::codec {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> fields_of(const CsvTable& table) {
  std::vector<Fields> rows;
  for (const auto& row : table.rows) rows.push_back(row.fields);
  return rows;
}

TEST(ParseCsv, ReadsNamesAndRows) {
  const auto table = parse_csv("id,text\n1,one\n2,\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->names, (Fields{"id", "text"}));
  EXPECT_EQ(fields_of(*table), (std::vector<Fields>{{"1", "one"}, {"2", ""}}));
  EXPECT_EQ(table->column("text"), 1);
  EXPECT_EQ(table->column("Text"), std::nullopt);
  EXPECT_FALSE(table->had_bom);
}

// RFC 4180, section 2, rules 5 to 7.
TEST(ParseCsv, QuotedFieldsHoldAnything) {
  const auto table =
      parse_csv("a,b,c\r\n\"x,y\",\"say \"\"hi\"\"\",\"two\r\nlines\"\r\n\"\",\"\"\"\",z");
  ASSERT_TRUE(table);
  EXPECT_EQ(fields_of(*table),
            (std::vector<Fields>{{"x,y", "say \"hi\"", "two\r\nlines"}, {"", "\"", "z"}}));
}

TEST(ParseCsv, EveryLineEndEndsARow) {
  for (const char* text : {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4", "a,b\r1,2\r3,4\r"}) {
    const auto table = parse_csv(text);
    ASSERT_TRUE(table);
    EXPECT_EQ(fields_of(*table), (std::vector<Fields>{{"1", "2"}, {"3", "4"}}));
  }
}

TEST(ParseCsv, LinesAreCountedThroughQuotesAndBlanks) {
  const auto table = parse_csv("a\n\n\"x\ny\r\nz\rw\"\n\r\n\"\"\nlast\n");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 3);
  EXPECT_EQ(table->rows[0].line, 3);
  EXPECT_EQ(table->rows[1].line, 8);
  EXPECT_EQ(table->rows[1].fields, Fields{""});
  EXPECT_EQ(table->rows[2].line, 9);
}

TEST(ParseCsv, ABomIsNotedAndDropped) {
  const auto table = parse_csv("\xef\xbb\xbfid\n1\n");
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->had_bom);
  EXPECT_EQ(table->names, Fields{"id"});
}

TEST(ParseCsv, TsvKeepsQuotesInsideAField) {
  const auto table = parse_csv("a\tb\nsay \"hi\", you\t\"x\ty\"\n", '\t');
  ASSERT_TRUE(table);
  EXPECT_EQ(fields_of(*table), (std::vector<Fields>{{"say \"hi\", you", "x\ty"}}));
}

TEST(ParseCsv, OnlyNamesIsATableWithoutRows) { EXPECT_TRUE(parse_csv("a,b")->rows.empty()); }

struct BadCase {
  std::string text;
  const char* want;
};

TEST(ParseCsv, RefusesWithLineAndReason) {
  for (const auto& [text, want] :
       {BadCase{"", "line 1: no row of column names"},
        {"\n\n", "line 1: no row of column names"},
        {"a,,c\n", "line 1: column 2 has no name"},
        {"\na,b,a\n", "line 2: column name 'a' twice"},
        {"a,b\n1,2\n3\n", "line 3: 1 field where the header has 2"},
        {"a,b\n1,2,3\n", "line 2: 3 fields where the header has 2"},
        {"a\n\"x\ny", "line 2: a quoted field without its closing quote"},
        {"a\n\"", "line 2: a quoted field without its closing quote"},
        {"a\n\"x\n\"y\n", "line 3: something follows a closing quote (double the quotes inside)"},
        {"a\nx\"y\"\n",
         "line 2: a quote inside an unquoted field (quote the whole field and double it)"},
        {"a\r\nb\r\xff", "line 3: invalid UTF-8 (save the file as UTF-8)"}}) {
    const auto table = parse_csv(text);
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().code, Error::Code::Corrupt);
    EXPECT_EQ(table.error().message, want);
  }
}

}  // namespace
}  // namespace deem::codec
