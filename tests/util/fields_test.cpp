// SPDX-License-Identifier: MIT
#include "tuner/util/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tuner/util/fields_json.hpp"

// A namespace of its own: what is found by argument-dependent lookup must be found from anywhere.
namespace elsewhere {

using nlohmann::json;

enum class Colour { kRed, kBlue };
pgtune::EnumTable<Colour> enum_table(Colour /*colour*/) {
  static constexpr pgtune::EnumNames<Colour, 2> kNames{{{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}};
  return kNames;
}

struct Part {
  int count = 1;
  std::optional<double> share = {};

  PGTUNE_FIELDS(count, share)
  friend bool operator==(const Part&, const Part&) = default;
};

struct Whole {
  std::string name;
  Colour colour = Colour::kRed;
  double low = 0, high = 0;
  Part inner = {};
  std::vector<Part> parts = {};
  std::vector<std::optional<Part>> gaps = {};
  std::map<Colour, int> counts = {};
  std::map<std::string, double> rates = {};
  std::shared_ptr<const Part> shared = {};
  Part flat = {};
  bool flag = false;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("name", self.name);
    visit("colour", self.colour);
    visit("range", pgtune::low_high(self.low, self.high));
    visit("inner", self.inner);
    visit("parts", self.parts);
    visit("gaps", self.gaps);
    visit("counts", self.counts);
    visit("rates", self.rates);
    visit("shared", self.shared);
    Part::visit_fields(self.flat, visit);
    visit("flag", self.flag, pgtune::kUnlessDefault);
  }
};

Whole example() {
  Whole whole{"a", Colour::kBlue, 1.5, 2.5, {2, 0.25}, {{3, {}}, {4, 0.5}}, {Part{5, {}}, std::nullopt}};
  whole.counts = {{Colour::kBlue, 6}};
  whole.rates = {{"f32", 1e12}};
  whole.shared = std::make_shared<const Part>(Part{8, {}});
  whole.flat = {9, 0.75};
  return whole;
}

const char* const kText =
    R"({"colour":"blue","count":9,"counts":{"blue":6},"gaps":[{"count":5},null],)"
    R"("inner":{"count":2,"share":0.25},"name":"a","parts":[{"count":3},{"count":4,"share":0.5}],)"
    R"("range":[1.5,2.5],"rates":{"f32":1000000000000.0},"share":0.75,"shared":{"count":8}})";

TEST(Fields, AreWrittenByName) { EXPECT_EQ(json(example()).dump(), kText); }

TEST(Fields, AreReadAsWritten) {
  auto whole = json::parse(kText).get<Whole>();
  EXPECT_EQ(json(whole).dump(), kText);
  EXPECT_EQ(whole.colour, Colour::kBlue);
  EXPECT_EQ(whole.high, 2.5);
  EXPECT_EQ(whole.gaps, (std::vector<std::optional<Part>>{Part{5, {}}, std::nullopt}));
  EXPECT_EQ(*whole.shared, (Part{8, {}}));
  EXPECT_EQ(whole.flat, (Part{9, 0.75}));
}

TEST(Fields, ReadingReplacesTheWholeRecord) {
  Whole whole = example();
  whole.flag = true;
  json text = json::parse(kText);
  text.erase("share");
  text.get_to(whole);
  EXPECT_FALSE(whole.flag);
  EXPECT_EQ(whole.flat.share, std::nullopt);
}

TEST(Fields, AreLeftOutWhereTheyHaveTheirDefault) {
  Whole whole;
  EXPECT_FALSE(json(whole).contains("flag"));
  EXPECT_EQ(json(whole).at("shared"), json(Part{})) << "a pointer to nothing stands for the default";
  whole.flag = true;
  EXPECT_EQ(json(whole).at("flag"), true);
  EXPECT_TRUE(json(whole).get<Whole>().flag);
}

TEST(Fields, WhatIsMissingOrOfAnotherKindIsAnError) {
  for (const char* name : {"name", "colour", "range", "inner", "parts", "gaps", "counts", "rates", "shared", "count"}) {
    json text = json::parse(kText);
    text.erase(name);
    EXPECT_THROW(static_cast<void>(text.get<Whole>()), json::exception) << name;
    text[name] = nullptr;
    EXPECT_THROW(static_cast<void>(text.get<Whole>()), json::exception) << name;
    text[name] = true;
    if (std::string(name) == "count") continue;  // nlohmann takes a truth value for a number
    EXPECT_THROW(static_cast<void>(text.get<Whole>()), json::exception) << name;
  }
  EXPECT_THROW(static_cast<void>(json::parse("[]").get<Whole>()), json::exception);
  json text = json::parse(kText);
  text["colour"] = "green";
  EXPECT_THROW(static_cast<void>(text.get<Whole>()), json::exception);
  text["colour"] = "red";
  text["counts"] = {{"green", 1}};
  EXPECT_THROW(static_cast<void>(text.get<Whole>()), json::exception);
}

TEST(Fields, TellTheFirstImpossibleNumber) {
  Whole whole = example();
  EXPECT_FALSE(pgtune::find_impossible_number(whole));
  whole.flat.share = std::numeric_limits<double>::infinity();
  EXPECT_EQ(pgtune::find_impossible_number(whole)->field, "share");
  whole.high = -1;
  EXPECT_EQ(pgtune::find_impossible_number(whole)->field, "range");
  EXPECT_EQ(pgtune::find_impossible_number(whole)->value, -1);
  Part part{-3, {}};
  EXPECT_EQ(pgtune::find_impossible_number(part)->field, "count");
}

}  // namespace elsewhere
