// SPDX-License-Identifier: MIT
// pgtune db info, check and copy: message, output, exit code.
#include <algorithm>

#include "db/database.hpp"
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class DatabaseCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(search({"-q"}).exit_code, 0);
  }
  /// A copy of the database with two pages in its middle spoilt.
  void damage(const std::string& name) {
    std::string bytes = read(".local/share/pgtune/pgtune.db");
    // The page of a variant: one of rows, wherever the schema puts them.
    constexpr std::size_t page = 4096;
    const std::size_t start = bytes.rfind("BM=32,BN=") / page * page;
    ASSERT_LE(start + page, bytes.size());
    for (std::size_t i = start; i < start + page; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
    write(name, bytes);
  }
};

TEST_F(DatabaseCommandTest, InfoSaysWhatItHolds) {
  const Finished text = pgtune({"db", "info", "--color", "never"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr(database() + "\n"), HasSubstr("schema version " + std::to_string(db::kSchemaVersion)),
            ::testing::ContainsRegex("\nsessions +1\n"), ::testing::ContainsRegex("\nok +10\n"),
            ::testing::ContainsRegex("\nround_samples +[1-9]"), ::testing::ContainsRegex("\nenergy_windows +0\n"),
            ::testing::ContainsRegex("\nceilings +[0-9]+\n")));
  const json object = json::parse(pgtune({"db", "info", "--json"}).out);
  EXPECT_EQ(object.at("path"), database());
  EXPECT_EQ(object.at("schema_version"), db::kSchemaVersion);
  EXPECT_EQ(object.at("rows").at("conditions"), 1);
  EXPECT_EQ(object.at("bytes"), std::filesystem::file_size(database()));
  EXPECT_EQ(object.at("rows").at("trials"), 10);
  EXPECT_EQ(object.at("outcomes"), json({{"ok", 10}}));
}

TEST_F(DatabaseCommandTest, AFileOfAnotherSchemaIsRefusedAndStaysAsItIs) {
  // user_version in SQLite's header.
  constexpr std::size_t version = 63;
  std::string bytes = read(".local/share/pgtune/pgtune.db");
  ++bytes[version];
  write("other.db", bytes);
  const std::string file = path("other.db");
  const std::vector<std::vector<std::string>> commands{{"show"},
                                                       {"db", "info"},
                                                       {"db", "check"},
                                                       {"db", "vacuum"},
                                                       {"db", "copy", "-o", path("copy.db")},
                                                       {"search", "--shape", "256x256x256"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--db", file});
    const Finished result = pgtune(command);
    EXPECT_EQ(result.exit_code, 4) << result.out;
    EXPECT_THAT(result.err, AllOf(HasSubstr(file + " is of schema version " + std::to_string(db::kSchemaVersion + 1)),
                                  HasSubstr("left untouched"), HasSubstr("use another file")));
  }
  EXPECT_EQ(read("other.db"), bytes);
}

TEST_F(DatabaseCommandTest, CheckOfASoundFile) {
  const Finished result = pgtune({"db", "check"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, database() + ": sound\n");
}

TEST_F(DatabaseCommandTest, CheckOfADamagedFileSaysWhatIsWrong) {
  damage("damaged.db");
  const std::string before = read("damaged.db");
  const Finished result = pgtune({"db", "check", "--db", path("damaged.db")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, ::testing::ContainsRegex("[Pp]age [0-9]+"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("damaged.db is damaged"), HasSubstr("restore"), HasSubstr("search again"),
                                Not(HasSubstr("db check"))));
  EXPECT_EQ(read("damaged.db"), before);
  expect_80_columns(result.out);
}

TEST_F(DatabaseCommandTest, ACopyOfADamagedFileIsNotMade) {
  damage("damaged.db");
  const Finished result = pgtune({"db", "copy", "--db", path("damaged.db"), "-o", path("copy.db")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("damaged.db is damaged"), HasSubstr("Restore it from a copy")));
  EXPECT_FALSE(std::filesystem::exists(path("copy.db")));
}

TEST_F(DatabaseCommandTest, CopyIsOneFileAndARecording) {
  const Finished copied = pgtune({"db", "copy", "-o", path("copy.db")});
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_THAT(copied.err, HasSubstr("wrote " + path("copy.db")));
  EXPECT_EQ(pgtune({"db", "check", "--db", path("copy.db")}).exit_code, 0);
  for (const char* beside : {"copy.db-wal", "copy.db-shm"}) EXPECT_FALSE(std::filesystem::exists(path(beside)));
  EXPECT_EQ(pgtune({"show", "--json", "--db", path("copy.db")}).out, pgtune({"show", "--json"}).out);
  const Finished recorded = search({"--device", "recording:" + path("copy.db"), "--db", path("new.db"), "--json"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_EQ(json::parse(recorded.out).at("source"), "recorded");
}

TEST_F(DatabaseCommandTest, CopyLeavesAnExistingFileAlone) {
  write("there.db", "precious\n");
  const Finished result = pgtune({"db", "copy", "-o", path("there.db")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("there.db exists already"), HasSubstr("new file name")));
  EXPECT_EQ(read("there.db"), "precious\n");
}

}  // namespace
}  // namespace pgtune::tool::test
