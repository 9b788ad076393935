// SPDX-License-Identifier: MIT
// Every text and number of stored pipelines replaced by what no pgtune writes: no command crashes, hangs or ends
// otherwise than documented; db check names the place, and db copy passes nothing of it on.
#include <limits>
#include <set>

#include "tests/tool/hostile_database.hpp"

namespace pgtune::tool {

void register_pipeline(Rooms& rooms);

namespace test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class HostilePipelines : public HostileDatabase {
 protected:
  static Words pipeline(const Words& more = {}) {
    Words words{"pipeline",       "--shape", "512x64x64", "--dtype", "bf16",
                "--pinned-limit", "64",      "--kernels", "stored",  "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// What reads these tables.
  [[nodiscard]] std::vector<Words> users() const {
    return {{"report", "--pipelines"},
            {"report", "--pipelines", "--json"},
            {"report", "--html", "-"},
            {"export", "pipeline", "--shape", "512x64x64", "--dtype", "bf16", "-o", path("out")},
            {"db", "dump"},
            {"db", "prune", "--keep", "0", "--json"}};
  }
  /// The same, and a search, which goes on from what is stored.
  [[nodiscard]] std::vector<Words> all_users() const {
    std::vector<Words> commands = users();
    commands.push_back(pipeline());
    return commands;
  }
  Rooms rooms() const override {
    Rooms rooms;
    register_pipeline(rooms);
    return rooms;
  }
  std::vector<Words> fillers() const override { return {pipeline({"--rounds", "6"})}; }
  bool holds(const std::string& table) const override { return table.starts_with("pipeline_"); }

  /// db check names the place, and db copy refuses it.
  void expect_found(const Column& column, const std::string& what) {
    const Finished checked = survived({"db", "check"}, column.text());
    EXPECT_EQ(checked.exit_code, 4) << column.text();
    EXPECT_THAT(checked.out, HasSubstr(what)) << column.text();
    EXPECT_EQ(survived({"db", "copy", "-o", path("out")}, column.text()).exit_code, 4) << column.text();
    EXPECT_FALSE(std::filesystem::exists(path("out"))) << column.text();
  }
};

TEST_F(HostilePipelines, ASoundRecordingIsUsedByAllCommands) {
  std::filesystem::copy_file(path("recorded.db"), path("spoilt.db"));
  for (const Words& command : all_users()) {
    const Finished finished = survived(command, "sound");
    EXPECT_EQ(finished.exit_code, 0) << command.front() << finished.err;
  }
}

TEST_F(HostilePipelines, TextsAreSurvivedAndRecordsAreFound) {
  const std::string deep(400'000, '[');
  for (const Column& column : columns()) {
    if (column.type != "TEXT") continue;
    for (const std::string& text : {std::string(), std::string("excellent"), std::string("\033[2J\xff"),
                                    column.holds_json() ? deep : deep.substr(0, 9)}) {
      spoil(column, text);
      expect_survived(text == "excellent" ? all_users() : users(), column.text());
      if (column.holds_json()) expect_found(column, "): " + column.name + ": ");
    }
  }
}

TEST_F(HostilePipelines, NumbersAreSurvivedAndImpossibleOnesAreFound) {
  for (const Column& column : columns()) {
    if (column.type == "TEXT") continue;
    const bool real = column.type == "REAL";
    for (const HostileValue& value :
         real ? std::vector<HostileValue>{0.0, 1e308} : std::vector<HostileValue>{std::int64_t{0}, INT64_MAX}) {
      spoil(column, value);
      expect_survived(users(), column.text());
    }
    spoil(column, real ? HostileValue(std::numeric_limits<double>::infinity()) : HostileValue(std::int64_t{-1}));
    expect_survived(all_users(), column.text());
    EXPECT_EQ(survived({"db", "check"}, column.text()).exit_code, 4) << column.text();
  }
}

TEST_F(HostilePipelines, NumbersAndWordsInRecordsAreSurvived) {
  std::size_t turn = 0;
  for (const Column& column : columns()) {
    if (!column.holds_json()) continue;
    std::set<std::string> seen;  // places but for the numbers of elements: what holds of one holds of all
    const json sound = json::parse(texts(column).front()).flatten();
    for (const auto& [place, leaf] : sound.items()) {
      std::string name = place;
      std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
      if (!seen.insert(name).second) continue;
      for (const json& value : leaf.is_number()   ? std::vector<json>{-1, 1e308, INT64_MAX}
                               : leaf.is_string() ? std::vector<json>{std::string("\0\033[2J", 5)}
                                                  : std::vector<json>{}) {
        json document = sound;
        document[place] = value;
        spoil(column, document.unflatten().dump());
        const std::vector<Words> commands = users();
        expect_survived({commands[turn++ % commands.size()]}, column.text() + " " + place);
      }
    }
  }
}

}  // namespace
}  // namespace test
}  // namespace pgtune::tool
