// SPDX-License-Identifier: MIT
#include "tuner/util/caret.hpp"

#include <gtest/gtest.h>

#include "tuner/util/suggestion.hpp"

namespace pgtune::space {
namespace {

TEST(Caret, StandsUnderTheCharacter) {
  EXPECT_EQ(with_caret("bad", "a + b", 2), "bad\n  a + b\n    ^");
  EXPECT_EQ(with_caret("bad", "a", 0), "bad\n  a\n  ^");
  EXPECT_EQ(with_caret("bad", "ab", 2), "bad\n  ab\n    ^");
  EXPECT_EQ(with_caret("bad", "", 0), "bad\n  \n  ^");
}

TEST(Caret, CountsCharactersNotBytes) {
  EXPECT_EQ(with_caret("bad", "\u00e4\u00f6 + x", 7), "bad\n  \u00e4\u00f6 + x\n       ^");
}

TEST(Caret, ControlCharactersTakeOneColumn) { EXPECT_EQ(with_caret("bad", "a\t+\nb", 4), "bad\n  a + b\n      ^"); }

TEST(Caret, LongTextIsCutAroundIt) {
  const std::string text = std::string(500, 'a') + "X" + std::string(500, 'b');
  EXPECT_EQ(with_caret("bad", text, 500),
            "bad\n  ..." + std::string(60, 'a') + "X" + std::string(39, 'b') + "...\n  " + std::string(63, ' ') + "^");
}

TEST(Suggestion, FindsNearNames) {
  const std::vector<std::string> names{"BM", "BN", "STAGES", "VEC_A", "VEC_B"};
  EXPECT_EQ(suggestion("bm", names), "; did you mean 'BM'?");
  EXPECT_EQ(suggestion("STAEGS", names), "; did you mean 'STAGES'?");
  EXPECT_EQ(suggestion("VECA", names), "; did you mean 'VEC_A'?");
  EXPECT_EQ(suggestion("VCEA", {{"VEC_A"}}), "; known: VEC_A")
      << "a swap and an insertion, though it is a third of four";
  EXPECT_EQ(suggestion("TSAEGS", names), "; did you mean 'STAGES'?") << "two swaps, a third of six";
  EXPECT_EQ(suggestion("TSAESG", names), "; known: BM, BN, STAGES, VEC_A, VEC_B") << "three";
  EXPECT_EQ(suggestion("ELSE", names), "; known: BM, BN, STAGES, VEC_A, VEC_B");
  EXPECT_EQ(suggestion("X", {}), "");
  EXPECT_EQ(suggestion(std::string(100000, 'x'), names), "; known: BM, BN, STAGES, VEC_A, VEC_B");
}

}  // namespace
}  // namespace pgtune::space
