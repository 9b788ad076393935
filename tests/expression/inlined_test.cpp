// SPDX-License-Identifier: MIT
// Names that are computed where they stand: the same values as one text would give, with the carets of the outer one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/expression/map_scope.hpp"

namespace pgtune::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expression read(const std::string& text) { return Expression::parse(text).value(); }

TEST(Inlined, IsWhatTheTextInItsPlaceWouldBe) {
  const std::map<std::string, Expression> definitions{{"TILES", read("SWAP ? ceil_div(N, BM) : ceil_div(M, BM)")},
                                                      {"MANY", read("M > 4 && N > 4 || BM == 1")}};
  for (const char* text : {"TILES", "TILES * TILES + TILES", "MANY ? TILES : -TILES", "!MANY || TILES > 2 && MANY",
                           "BM == 1 ? (MANY ? 1 : TILES) : max(TILES, M, N)", "M + N"}) {
    std::string in_place = text;
    for (const auto& [name, definition] : definitions) {
      for (std::size_t at = 0; (at = in_place.find(name, at)) != std::string::npos; at += definition.text().size() + 2)
        in_place.replace(at, name.size(), "(" + definition.text() + ")");
    }
    const Expression inlined = read(text).inlined(definitions).value();
    EXPECT_EQ(inlined.text(), text);
    for (int i = 0; i < 64; ++i) {
      const MapScope scope({{"SWAP", i % 2}, {"M", 1 + i / 2 % 4 * 3}, {"N", 1 + i / 8 % 4 * 3}, {"BM", 1 + i / 32}});
      EXPECT_EQ(inlined.evaluate(scope).value(), read(in_place).evaluate(scope).value()) << text << " " << i;
    }
  }
}

TEST(Inlined, NamesAreThoseOfTheDefinitions) {
  const Expression inlined = read("N + TILES + M").inlined({{"TILES", read("M / BM + N")}}).value();
  EXPECT_THAT(inlined.names(), ElementsAre("N", "M", "BM"));
  EXPECT_EQ(inlined.name_position(2), 4U) << "where TILES stands";
}

TEST(Inlined, AFaultInsideIsShownAtTheName) {
  const Expression inlined = read("1 + TILES").inlined({{"TILES", read("M / BM")}}).value();
  const auto value = inlined.evaluate(MapScope({{"M", 1}, {"BM", 0}}));
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message, HasSubstr("\n  1 + TILES\n      ^"));
}

TEST(Inlined, WhatGrowsWithoutEndIsRefused) {
  std::map<std::string, Expression> definitions{{"V0", read("M")}};
  std::optional<Error> error;
  for (int i = 1; i < 40 && !error; ++i) {
    const auto twice = read(fmt::format("V{} + V{}", i - 1, i - 1)).inlined(definitions);
    if (!twice) error = twice.error();
    if (twice) definitions.emplace(fmt::format("V{}", i), *twice);
  }
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, HasSubstr("too long with the values that it uses"));
}

TEST(Inlined, PendingOperationsOfBothCount) {
  std::string begin, end;
  for (int i = 0; i < 30; ++i) {
    begin += "1==1<1<<1+1*(";
    end += ")";
  }
  const Expression outer = read(begin + "V" + end);
  EXPECT_TRUE(outer.inlined({{"V", read("1")}}));
  const auto both = outer.inlined({{"V", read(begin + "1" + end)}});
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("too long with the values that it uses"));
}

}  // namespace
}  // namespace pgtune::space
