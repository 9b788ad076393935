// SPDX-License-Identifier: MIT
// Replaces every text of a database by values that pgtune never writes, and runs a ladder whose last rung is the stored
// best.
#include "tests/tool/hostile_database.hpp"

namespace pgtune::tool {

void register_ladder(Rooms& rooms);

namespace test {
namespace {

constexpr const char* kLadder = R"json({
  "schema": 1, "name": "steps", "description": "for tests", "dtype": "f32",
  "rungs": [
    {"name": "first", "template": "./tiny.json", "variant": "BM=64,BN=32", "change": "a tile", "lesson": "how it starts"},
    {"name": "winner", "stored_best": true, "change": "the best", "lesson": "what searching adds"}]
})json";

class HostileLadder : public HostileDatabase {
 protected:
  void SetUp() override {
    HostileDatabase::SetUp();
    write("steps.json", kLadder);
  }
  Rooms rooms() const override {
    Rooms rooms;
    register_ladder(rooms);
    return rooms;
  }
  Finished climb(const std::string& what) {
    return survived({"ladder", "--ladder", path("steps.json"), "--shape", "256x256x256", "-q"}, what);
  }
};

TEST_F(HostileLadder, ASoundDatabaseIsUsed) {
  std::filesystem::copy_file(path("recorded.db"), path("spoilt.db"));
  const Finished climbed = climb("sound");
  EXPECT_EQ(climbed.exit_code, 0) << climbed.err;
}

TEST_F(HostileLadder, TextsAreSurvived) {
  for (const Column& column : columns()) {
    if (column.type != "TEXT") continue;
    spoil(column, column.holds_json() ? std::string(400'000, '[') : "excellent");
    static_cast<void>(climb(column.text()));
  }
}

}  // namespace
}  // namespace test
}  // namespace pgtune::tool
