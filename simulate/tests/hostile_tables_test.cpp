// SPDX-License-Identifier: MIT
// Replaces every text and number of a database with another tool's table by values that pgtune never writes.
// Simulations and exports must not crash or hang, and db check must name the damage in an imported table.
#include <limits>

#include "tests/tool/hostile_database.hpp"

namespace pgtune::tool {

void register_simulate(Rooms& rooms);

namespace test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class HostileTables : public HostileDatabase {
 protected:
  Rooms rooms() const override {
    Rooms rooms;
    register_simulate(rooms);
    return rooms;
  }
  std::vector<Words> fillers() const override {
    return {{"import", "t4", PGTUNE_SOURCE_DIR "/simulate/tests/fuzz/corpus/foreign_table/t4.json"}};
  }
  bool holds(const std::string& table) const override { return !table.starts_with("pipeline_"); }

  [[nodiscard]] std::vector<Words> users() const {
    return {{"export", "t4", "--from", path("used.db"), path("out")},
            {"simulate", "--from", path("used.db"), "--strategy", "random", "--budget", "2", "--repeats", "1"}};
  }
};

TEST_F(HostileTables, ASoundDatabaseIsUsed) {
  std::filesystem::copy_file(path("recorded.db"), path("spoilt.db"));
  for (const Words& command : users()) {
    const Finished finished = survived(command, "sound");
    EXPECT_EQ(finished.exit_code, 0) << command.front() << finished.err;
  }
}

TEST_F(HostileTables, TextsAndNumbersAreSurvived) {
  for (const Column& column : columns()) {
    std::vector<HostileValue> values{std::int64_t{0}, std::numeric_limits<std::int64_t>::max()};
    if (column.type == "TEXT") values = {std::string(), std::string("excellent"), std::string(400'000, '[')};
    if (column.type == "REAL") values = {0.0, std::numeric_limits<double>::infinity()};
    for (const HostileValue& value : values) {
      spoil(column, value);
      expect_survived(in_turn(users()), column.text());
    }
  }
}

TEST_F(HostileTables, AnImportedTableThatIsNoneIsFoundAndNotPassedOn) {
  const Column column{"foreign_tables", "table_json", "TEXT"};
  for (const std::string& text : {std::string(400'000, '['), std::string("{}"), std::string("\033[2J")}) {
    spoil(column, text);
    const Finished checked = survived({"db", "check"}, "table");
    EXPECT_EQ(checked.exit_code, 4);
    EXPECT_THAT(checked.out, HasSubstr("): table_json: "));
    EXPECT_EQ(survived({"db", "copy", "-o", path("out")}, "table").exit_code, 4);
    EXPECT_FALSE(std::filesystem::exists(path("out")));
  }
}

}  // namespace
}  // namespace test
}  // namespace pgtune::tool
