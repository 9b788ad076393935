// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/text_table.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pgtune::tool {
namespace {

TEST(CsvWriter, HeaderAndRows) {
  CsvWriter csv({"name", "time_s"});
  csv.add_row({"plain text", "0.5"});
  EXPECT_EQ(csv.text(), "name,time_s\nplain text,0.5\n");
}

TEST(CsvWriter, QuotesWhatRfc4180Asks) {
  CsvWriter csv({"cell"});
  csv.add_row({"a,b"});
  csv.add_row({"say \"hi\""});
  csv.add_row({"two\nlines"});
  EXPECT_EQ(csv.text(), "cell\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n");
}

TEST(CsvWriter, NumbersReadBackExactlyAndMissingOnesAreEmpty) {
  EXPECT_EQ(std::stod(csv_number(0.1 + 0.2)), 0.1 + 0.2);
  EXPECT_EQ(csv_number(std::nullopt), "");
  EXPECT_EQ(csv_number(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(csv_number(std::numeric_limits<double>::infinity()), "");
}

}  // namespace
}  // namespace pgtune::tool
