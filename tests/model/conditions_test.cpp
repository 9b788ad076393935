// SPDX-License-Identifier: MIT
#include "tuner/model/conditions.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <set>

namespace pgtune {
namespace {

TEST(Conditions, KeysAreStableText) {
  EXPECT_EQ(Conditions{}.key(), "sustained rotated uniform:20231107 observed");
  const Conditions other{Regime::kBurst, L2State::kWarm, DataDistribution::kZeros, 7, 1.5e9};
  EXPECT_EQ(other.key(), "burst warm zeros:7 locked:1500MHz");
}

TEST(Conditions, EveryFieldIsInTheKeyAndReadBack) {
  std::set<std::string> keys;
  std::size_t count = 0;
  for (const Regime regime : {Regime::kSustained, Regime::kBurst}) {
    for (const L2State l2 : {L2State::kRotated, L2State::kWarm}) {
      for (const DataDistribution data : {DataDistribution::kUniform, DataDistribution::kNormal,
                                          DataDistribution::kIntegers, DataDistribution::kZeros}) {
        for (const std::uint64_t seed : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
          for (const double clock_hz : {0.0, 345e6, 1.98e9}) {
            const Conditions conditions{regime, l2, data, seed, clock_hz};
            const auto read = parse_conditions(conditions.key());
            ASSERT_TRUE(read) << conditions.key();
            EXPECT_EQ(*read, conditions);
            keys.insert(conditions.key());
            ++count;
          }
        }
      }
    }
  }
  EXPECT_EQ(keys.size(), count);
}

TEST(Conditions, OtherTextIsRefused) {
  for (const char* text :
       {"", "sustained", "sustained rotated uniform:1", "sustained rotated uniform:1 observed x",
        "steady rotated uniform:1 observed", "sustained cold uniform:1 observed", "sustained rotated random:1 observed",
        "sustained rotated uniform observed", "sustained rotated uniform: observed",
        "sustained rotated uniform:-1 observed", "sustained rotated uniform:1x observed",
        "sustained rotated uniform:18446744073709551616 observed", "sustained rotated uniform:1 locked",
        "sustained rotated uniform:1 locked:MHz", "sustained rotated uniform:1 locked:1500",
        "sustained rotated uniform:1 locked:-15MHz", "sustained  rotated uniform:1 observed"}) {
    const auto read = parse_conditions(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::kInternal);
    EXPECT_THAT(read.error().text(), testing::HasSubstr(text));
  }
}

TEST(Conditions, WordsAreThoseOfTheCommandLine) {
  EXPECT_EQ(parse_regime("burst"), Regime::kBurst);
  EXPECT_EQ(to_string(Regime::kSustained), "sustained");
  EXPECT_EQ(parse_l2_state("warm"), L2State::kWarm);
  EXPECT_EQ(parse_data_distribution("normal"), DataDistribution::kNormal);
  EXPECT_FALSE(parse_regime("Burst"));
  EXPECT_FALSE(parse_l2_state(""));
  EXPECT_FALSE(parse_data_distribution("ones"));
}

TEST(Conditions, FewTogglingBitsAreEasyData) {
  Conditions conditions;
  EXPECT_FALSE(conditions.easy_data());
  conditions.data = DataDistribution::kNormal;
  EXPECT_FALSE(conditions.easy_data());
  conditions.data = DataDistribution::kIntegers;
  EXPECT_TRUE(conditions.easy_data());
  conditions.data = DataDistribution::kZeros;
  EXPECT_TRUE(conditions.easy_data());
}

}  // namespace
}  // namespace pgtune
