// SPDX-License-Identifier: MIT
#include "db/upkeep/dump.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TestSession;

std::string json(const Value& value) {
  std::string text;
  append_json(text, value);
  return text;
}

TEST(JsonText, Values) {
  EXPECT_EQ(json(std::monostate()), "null");
  EXPECT_EQ(json(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(json(0.1), "0.1");
  EXPECT_EQ(json(1.0), "1.0");
  EXPECT_EQ(json(6.570817307380346e-05), "6.570817307380346e-05");
  EXPECT_EQ(json(std::numeric_limits<double>::infinity()), "1e999");
  EXPECT_EQ(json(-std::numeric_limits<double>::infinity()), "-1e999");
  EXPECT_EQ(json("say \"yes\"\\\n\x01\x7f"), "\"say \\\"yes\\\"\\\\\\n\\u0001\x7f\"");
  EXPECT_EQ(json(std::string("nul\0", 4)), R"("nul\u0000")");
}

TEST(JsonText, TextThatIsNoUtf8) {
  EXPECT_EQ(json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
  // Overlong, a surrogate, beyond the last code point, cut off.
  for (const std::string bytes : {"\xc0\xaf", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    std::string expected = "\"";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      expected += "\xef\xbf\xbd";
    }
    EXPECT_EQ(json(bytes), expected + '"');
  }
}

TEST(Dump, SessionlessRowsComeInTheOrderOfTheirTimes) {
  auto database = Database::open_memory();
  for (const double speed : {1.0, 2.0})
    save_ceilings(database, TestSession().device, TestSession().program, testing::ceilings(speed));
  // By the text of its line it would be the second.
  execute(database, "UPDATE ceilings SET measured_at = '2020-01-01T00:00:00Z', source = 'replay' WHERE id = 2");
  std::vector<std::string> lines;
  dump(database, [&](const std::string& line) { lines.push_back(line); });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1], HasSubstr("2020-01-01"));
}

TEST(Dump, SaysEverythingWithoutIds) {
  auto database = Database::open_memory();
  const auto session = TestSession().begin(database);
  save_trial(database, session, testing::good_trial("A=1", 0.5));
  save_rounds(database, session, Stage::kFinal, {testing::rounds_of(0, {testing::sample(0.25)})});
  save_ceilings(database, TestSession().device, TestSession().program, testing::ceilings(1));
  std::vector<std::string> lines;
  dump(database, [&](const std::string& line) { lines.push_back(line); });
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], R"({"pgtune_dump":1,"schema_version":)" + std::to_string(kSchemaVersion) + "}");
  const std::string uid = list_sessions(database).front().uid;
  const std::string of_session = "\",\"session\":\"" + uid + "\",";
  EXPECT_THAT(lines[1], AllOf(StartsWith("{\"table\":\"sessions" + of_session),
                              HasSubstr(R"("device":{"uuid":"GPU-1a2b","name":"H200","architecture":"sm_90a",)"),
                              HasSubstr(R"("key":"f32 nn 512x512x512 )"), HasSubstr(R"("finished_at":null)"),
                              HasSubstr(R"("command_line":"pgtune search --shape 512x512x512")")));
  EXPECT_THAT(lines[2], AllOf(StartsWith("{\"table\":\"contenders" + of_session), HasSubstr(R"("algorithm":0)"),
                              HasSubstr(R"("round_samples":[{"stage":{"name":"final"},"round":0,)"),
                              HasSubstr(R"("energy_windows":[])")));
  EXPECT_THAT(lines[3],
              AllOf(StartsWith("{\"table\":\"trials" + of_session), HasSubstr(R"("outcome":{"kind":"ok","reason":""})"),
                    HasSubstr(R"("build":{"key_hash":"build-A=1",)"), HasSubstr(R"("time_s":0.5,)")));
  EXPECT_THAT(lines[4], AllOf(StartsWith(R"({"table":"ceilings","device":{)"), HasSubstr(R"("source":"gpu")")));
}

}  // namespace
}  // namespace pgtune::db
