// SPDX-License-Identifier: MIT
// Every text and number of a recording replaced by what no pgtune writes: no command crashes, hangs or ends otherwise
// than documented; db check names the place, and db copy and db merge pass nothing of it on.
#include <algorithm>
#include <limits>

#include "tests/tool/hostile_database.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

struct HostileText {
  const char* name;
  std::string text;
  bool only_as_json = false;  ///< to a column of plain text it is a wrong word like others
  std::size_t number = 0;     ///< among those with the same only_as_json
};

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

std::vector<HostileText> hostile_texts() {
  using namespace std::string_literals;
  std::vector<HostileText> texts{
      {"Empty", ""},
      {"Brackets", repeated("[", 400'000), true},
      {"NestedObjects", repeated("{\"a\":", 200'000) + "1" + repeated("}", 200'000), true},
      {"Long", repeated("x", 1 << 18)},
      {"NotANumber", "{\"m\":NaN,\"time_s\":Infinity}", true},
      {"WrongTypes", R"({"m":"4","uuid":7,"best":[],"dram_bytes_per_s":{},"library":null,"regime":1})", true},
      {"WrongWord", "excellent"},
      // What no terminal may get: a sequence that clears it, one that names its window, halves of characters.
      {"Bytes", "\033[2J\033]0;title\a\r\n\"\\ \xc2\x9b \xff\xfe\xc2 \xe4\xb8 a\0b"s}};
  std::size_t plain = 0, as_json = 0;
  for (HostileText& text : texts) text.number = text.only_as_json ? as_json++ : plain++;
  return texts;
}

class HostileTexts : public HostileDatabase, public ::testing::WithParamInterface<HostileText> {};

TEST_P(HostileTexts, AreSurvivedInEveryColumn) {
  begin_turns(GetParam().number);
  for (const Column& column : columns()) {
    if (column.type != "TEXT" || (GetParam().only_as_json && !column.holds_json())) continue;
    spoil(column, GetParam().text);
    expect_survived(in_turn(readers()), column.text());
    expect_survived(in_turn(searchers()), column.text());
  }
}

TEST_P(HostileTexts, InPlaceOfRecordsAreFoundAndNotPassedOn) {
  const HostileValue value = GetParam().text;
  for (const Column& column : columns()) {
    if (!column.holds_json()) continue;
    // An object is what parameters are, whatever its fields.
    if (column.name == "parameters_json" && GetParam().name == std::string("WrongTypes")) continue;
    spoil(column, value);
    const Finished checked = survived({"db", "check"}, column.text());
    EXPECT_EQ(checked.exit_code, 4) << column.text();
    EXPECT_THAT(checked.out, AllOf(HasSubstr(column.table + " ("), HasSubstr("): " + column.name + ": ")))
        << column.text();
    for (const auto& command : {std::vector<std::string>{"db", "copy", "-o", path("out")},
                                {"db", "merge", path("used.db"), "-o", path("out")}}) {
      const Finished refused = survived(command, column.text());
      EXPECT_EQ(refused.exit_code, 4) << column.text();
      EXPECT_THAT(refused.err, AllOf(HasSubstr(column.name), HasSubstr("Nothing was"), HasSubstr("from a copy")));
      EXPECT_FALSE(std::filesystem::exists(path("out"))) << column.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileTexts, ::testing::ValuesIn(hostile_texts()),
                         [](const auto& of) { return std::string(of.param.name); });

/// What would end a program that parses it as any other text.
TEST_F(HostileDatabase, ADeepAnswerEndsInAMessageNotInACrash) {
  spoil({"best", "answer_json", "TEXT"}, repeated("[", 400'000));
  for (const char* command : {"search", "bench"}) {
    for (const auto& more : std::vector<std::vector<std::string>>{{}, {"--dry-run"}}) {
      if (command == std::string("bench") && !more.empty()) continue;
      std::vector<std::string> words{command, "--template", path("tiny.json"), "--shape", "256x256x256"};
      words.insert(words.end(), more.begin(), more.end());
      const Finished finished = survived(words, "deep answer");
      EXPECT_EQ(finished.exit_code, 4);
      EXPECT_THAT(finished.err,
                  AllOf(HasSubstr("a stored answer cannot be read (nested more than 64 deep)"), HasSubstr("--force")));
    }
  }
}

/// The commands above do read what is spoilt below.
TEST_F(HostileDatabase, ASoundRecordingIsUsedByAllOfThem) {
  std::filesystem::copy_file(path("recorded.db"), path("spoilt.db"));
  for (const auto& commands : {readers(), searchers(), measurers()}) {
    for (const auto& command : commands) {
      const Finished finished = survived(command, "sound");
      EXPECT_EQ(finished.exit_code, 0) << command.front() << finished.err;
    }
  }
}

TEST_F(HostileDatabase, CommandsThatMeasureSurviveToo) {
  for (const Column& column : columns()) {
    if (column.type != "TEXT") continue;
    spoil(column, column.holds_json() ? repeated("[", 400'000) : "excellent");
    expect_survived(measurers(), column.text());
  }
}

/// All places of a JSON document's leaves, each name once.
std::map<std::string, std::vector<json::json_pointer>> leaves(const json& document) {
  std::map<std::string, std::vector<json::json_pointer>> places;
  const json flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const json::json_pointer place(pointer);
    std::string name = place.back();
    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0)
      name = place.parent_pointer().back() + "[]";
    places[name].push_back(place);
  }
  return places;
}

/// The kernels that a header holds, over spoilt recordings: numbers reach expressions, distances and C++ text.
TEST_F(HostileDatabase, HeadersThatProgramsCallSurviveToo) {
  const std::vector<std::vector<std::string>> commands{
      {"export", "header", "--template", path("tiny.json"), "--no-verify", "-o", path("out")}};
  const std::vector<json> numbers{-1, std::numeric_limits<std::int64_t>::max()};
  for (const char* name : {"problem_json", "info_json"}) {
    const auto all = columns();
    const auto column = std::find_if(all.begin(), all.end(), [&](const Column& other) { return other.name == name; });
    ASSERT_NE(column, all.end()) << name;
    const json sound = json::parse(texts(*column).front());
    for (const auto& [leaf, places] : leaves(sound)) {
      const bool number = sound.at(places.front()).is_number();
      for (const json& value : number ? numbers : std::vector<json>{"*/ \" \\ ?\?/\n#error \033[2J"}) {
        json document = sound;
        for (const auto& place : places) document[place] = value;
        spoil(*column, document.dump());
        expect_survived(commands, column->text() + " " + leaf + "=" + value.dump().substr(0, 40));
      }
    }
  }
}

TEST_F(HostileDatabase, ListsOfShapesForCoverageMayHoldAnything) {
  std::filesystem::copy_file(path("recorded.db"), path("spoilt.db"));
  const std::vector<std::string> coverage{"export",          "header",     "--template",
                                          path("tiny.json"), "--coverage", path("shapes")};
  write("shapes", "256x256x256\n64x64x64 bf16 nt batch 3\n");
  EXPECT_EQ(survived(coverage, "sound list").exit_code, 0);
  for (const std::string& text :
       {std::string(1 << 18, 'x'), std::string("\0\033[2J", 5), std::string("0x0x0"), std::string("-1x2x3"),
        std::string("9223372036854775807x9223372036854775807x9"), std::string("1x1x1 batch 9223372036854775807"),
        std::string("1x1x1 epilogue nothing"), std::string("1x1x1 tt nn"), std::string("\xff\xfe")}) {
    write("shapes", text);
    EXPECT_EQ(survived(coverage, text.substr(0, 40)).exit_code, 2) << text.substr(0, 40);
  }
}

/// A quarter of a long list, so that no test takes long.
class HostileNumbers : public HostileDatabase, public ::testing::WithParamInterface<std::size_t> {
 protected:
  static constexpr std::size_t kParts = 4;
  bool is_mine() { return next_++ % kParts == GetParam(); }

 private:
  std::size_t next_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Parts, HostileNumbers, ::testing::Values(0, 1, 2, 3));

TEST_P(HostileNumbers, OfEverySizeAreSurvivedInEveryColumn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min(),
                 kHighest = std::numeric_limits<std::int64_t>::max();
  begin_turns(GetParam());
  for (const Column& column : columns()) {
    if (!is_mine()) continue;
    const std::vector<HostileValue> values = column.type == "REAL" ? std::vector<HostileValue>{kInfinity, 0.0, 1e308}
                                             : column.type == "INTEGER"
                                                 ? std::vector<HostileValue>{kLowest, std::int64_t{0}, kHighest}
                                                 : std::vector<HostileValue>{};
    for (const HostileValue& value : values) {
      spoil(column, value);
      expect_survived(in_turn(users()), column.text());
    }
  }
}

TEST_F(HostileDatabase, ImpossibleNumbersAreFoundInEveryColumn) {
  for (const Column& column : columns()) {
    if (column.type == "TEXT" || column.name == "seed") continue;
    if (column.type == "REAL") {
      spoil(column, std::numeric_limits<double>::infinity());
    } else {
      spoil(column, std::int64_t{-1});
    }
    const Finished checked = survived({"db", "check"}, column.text());
    EXPECT_EQ(checked.exit_code, 4) << column.text();
    std::string out = checked.out;
    std::replace(out.begin(), out.end(), '\n', ' ');  // lines are wrapped
    // What a CHECK of the schema forbids is SQLite's to name.
    EXPECT_THAT(out, ::testing::AnyOf(HasSubstr("): " + column.name + ": impossible number"),
                                      HasSubstr("CHECK constraint failed in " + column.table)))
        << column.text();
  }
}

TEST_P(HostileNumbers, AndWordsInRecordsAreSurvived) {
  const std::vector<json> numbers{-1, 1e308, std::numeric_limits<std::int64_t>::max()};
  const std::vector<json> words{std::string("\0\033[2J", 5)};
  for (const Column& column : columns()) {
    if (!column.holds_json()) continue;
    const json sound = json::parse(texts(column).front());
    for (const auto& [name, places] : leaves(sound)) {
      if (!is_mine()) continue;
      const json& leaf = sound.at(places.front());
      for (const json& value : leaf.is_number() ? numbers : leaf.is_string() ? words : std::vector<json>{}) {
        json document = sound;
        for (const auto& place : places) document[place] = value;
        spoil(column, document.dump());
        const std::string what = column.text() + " " + name + "=" + value.dump().substr(0, 40);
        expect_survived(in_turn(users()), what);
      }
    }
  }
}

}  // namespace
}  // namespace pgtune::tool::test
