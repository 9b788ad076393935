// SPDX-License-Identifier: MIT
// What other problems teach: features by name, parts of the experiences, and a fitted model as a file.
#include "tuner/search/predictor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tuner/search/byte_file.hpp"

namespace pgtune::search {
namespace {

/// Variants of a template with a tile that suits a problem's size, which another name may hide, and something random.
Experience experience(int size, std::uint64_t seed, const std::string& tile_name = "tile") {
  std::mt19937_64 random(seed);
  Experience out{{{"size", tile_name, "noise"}, {3, {}}, {}},
                 {},
                 "problem " + std::to_string(size),
                 "a GPU",
                 "a template",
                 static_cast<std::size_t>(size)};
  for (int i = 0; i < 40; ++i) {
    const auto tile = static_cast<float>(random() % 8);
    for (const float value :
         {static_cast<float>(size), tile, static_cast<float>(static_cast<double>(random() >> 11) * 0x1.0p-53)})
      out.variants.features.values.push_back(value);
    out.variants.offsets.push_back(0.1);
    out.log_times.push_back(0.1 * std::abs(tile - static_cast<float>(size)));
  }
  return out;
}

std::vector<Experience> experiences() {
  std::vector<Experience> out;
  for (const int size : {0, 1, 2, 4, 5, 6, 7}) out.push_back(experience(size, static_cast<std::uint64_t>(size)));
  return out;
}

double mean_error(const Predictor& predictor, const Experience& experience) {
  const auto predicted = predictor.predict(experience.variants);
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) sum += std::abs(predicted[i] - experience.log_times[i]);
  return sum / static_cast<double>(predicted.size());
}

TEST(Predictor, TransfersToAProblemItHasNotSeen) {
  const auto known = experiences();
  const Predictor predictor = PredictorTrainer(known).fit_all(1);
  EXPECT_LT(mean_error(predictor, experience(3, 99)), 0.1);
  EXPECT_GT(predictor.deviation(), 0);
  EXPECT_EQ(predictor.loss().tables, 2) << "every fifth of seven";
  EXPECT_LT(predictor.loss().p90, 0.25) << "a choice at random loses 0.3 or so";
  EXPECT_EQ(predictor.problems(), known.size());
  EXPECT_TRUE(predictor.has_seen("a GPU"));
  EXPECT_FALSE(predictor.has_seen("another GPU"));
}

TEST(Predictor, TellsLossesOfTheNearestOfAKind) {
  auto known = experiences();
  for (int size = 100; size < 112; ++size) known.push_back(experience(size, static_cast<std::uint64_t>(size)));
  for (std::size_t i = 0; i < known.size(); ++i) known[i].kind = i < 7 ? "small" : "large";
  const Predictor predictor = PredictorTrainer(known).fit_all(1, Validation::kFiveFold);
  EXPECT_EQ(predictor.loss().tables, known.size());
  EXPECT_EQ(predictor.loss_near("large", "problem 105").tables, 12U) << "all of the kind, which has enough";
  EXPECT_EQ(predictor.loss_near("small", "problem 3").tables, 16U) << "seven are too few: the nearest of any kind";
  EXPECT_EQ(predictor.loss_near("large", "1x2x3").tables, known.size()) << "nothing is near: all";
  EXPECT_NE(predictor.loss_near("small", "problem 1").p90, predictor.loss_near("large", "problem 105").p90);
  const auto of_all = [&](const char* problem) {  // sixteen of all nineteen, but for the farthest
    const Predictor::Loss loss = predictor.loss_near("small", problem);
    return std::pair(loss.median, loss.p90);
  };
  EXPECT_NE(of_all("problem 1"), of_all("problem 200"));
  const auto again = Predictor::from_bytes(predictor.bytes());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->loss_near("large", "problem 105").p90, predictor.loss_near("large", "problem 105").p90);
}

TEST(Predictor, IsJudgedByEveryFifthProblemOrByEachUnseen) {
  auto known = experiences();
  const PredictorTrainer trainer(known);
  const Predictor by_fifth = trainer.fit_all(1), by_each = trainer.fit_all(1, Validation::kFiveFold);
  EXPECT_EQ(by_fifth.loss().tables, 2);
  EXPECT_EQ(by_each.loss().tables, known.size());
  EXPECT_LT(by_each.loss().p90, 0.25);
  EXPECT_EQ(by_each.predict(known[2].variants), by_fifth.predict(known[2].variants));
  // What only the third problem says is news to the trees that judge it, and to no others.
  for (double& time : known[2].log_times) time = kMostLog - time;
  const PredictorTrainer with_news(known);
  EXPECT_GT(with_news.fit_all(1, Validation::kFiveFold).deviation(), by_each.deviation() + 0.2);
}

TEST(Predictor, DeviatesByTheRootOfTheMeanSquare) {
  auto known = experiences();
  for (Experience& one : known) std::fill(one.log_times.begin(), one.log_times.end(), 0.1);  // as is offset
  EXPECT_EQ(PredictorTrainer(known).fit_all(1).deviation(), 0);
  auto& judged = known.front().log_times;  // without this problem the trees predict 0
  for (std::size_t i = 0; i < judged.size(); ++i) judged[i] += i % 2 == 0 ? 0.3 : -0.4;
  known.resize(2);
  EXPECT_NEAR(PredictorTrainer(known).fit_all(1).deviation(), std::sqrt(0.125), 1e-9);
}

TEST(Predictor, GoesByTheNamesOfFeatures) {
  const Predictor predictor = PredictorTrainer(experiences()).fit_all(1);
  EXPECT_GT(mean_error(predictor, experience(6, 99, "block")), 2 * mean_error(predictor, experience(6, 99)));
}

TEST(Predictor, LearnsNothingFromWhatIsLeftOut) {
  auto known = experiences();
  const PredictorTrainer trainer(known);
  std::vector<bool> chosen(known.size(), true);
  chosen.back() = false;
  const Predictor without = trainer.fit(chosen, 1);
  for (double& time : known.back().log_times) time = 1;
  const Predictor of_other_times = PredictorTrainer(known).fit(chosen, 1);
  EXPECT_EQ(without.predict(known.back().variants), of_other_times.predict(known.back().variants));
  EXPECT_EQ(without.problems(), known.size() - 1);
}

TEST(Predictor, OfNothingPredictsTheOffsets) {
  const Predictor predictor = PredictorTrainer({}).fit_all(1);
  for (const double predicted : predictor.predict(experience(3, 1).variants)) EXPECT_DOUBLE_EQ(predicted, 0.1);
}

TEST(Predictor, ComesBackFromItsBytes) {
  const Predictor predictor = PredictorTrainer(experiences()).fit_all(1);
  const auto again = Predictor::from_bytes(predictor.bytes());
  ASSERT_TRUE(again);
  const Experience other = experience(3, 99);
  EXPECT_EQ(again->predict(other.variants), predictor.predict(other.variants));
  EXPECT_EQ(again->deviation(), predictor.deviation());
  EXPECT_EQ(again->problems(), predictor.problems());
  EXPECT_EQ(again->loss().p90, predictor.loss().p90);
  EXPECT_TRUE(again->has_seen("a GPU"));
  EXPECT_EQ(again->bytes(), predictor.bytes());
}

TEST(Predictor, DamagedBytesAreNone) {
  const std::string bytes = PredictorTrainer(experiences()).fit_all(1).bytes();
  EXPECT_FALSE(Predictor::from_bytes(""));
  EXPECT_FALSE(Predictor::from_bytes("not a model, but longer than a check sum"));
  for (const std::size_t size : {std::size_t{8}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_FALSE(Predictor::from_bytes(std::string_view(bytes).substr(0, size))) << size;
  for (std::size_t at = 0; at < bytes.size(); at += 997) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    EXPECT_FALSE(Predictor::from_bytes(damaged)) << at;
  }
}

TEST(ByteReader, ReadsNothingBehindWhatIsTooShort) {
  ByteWriter out;
  out.number(1.0F);
  const std::string bytes = std::move(out).bytes();
  ByteReader in(bytes);
  double longer = 7;
  std::uint32_t further = 7;
  in.number(longer);
  in.number(further);
  EXPECT_EQ(longer, 7);
  EXPECT_EQ(further, 7U);
  EXPECT_EQ(in.count(1), 0U);
  EXPECT_FALSE(in.at_end());
}

TEST(Predictor, BytesThatNoModelHasAreNone) {
  struct Fields {
    double deviation = 0.1, loss = 0.2;
    std::vector<std::string> names = {"noise", "tile"}, kinds = {"gemm"}, problems = {"1x2x3"};
    bool more = false;
  };
  const auto is_read = [](const Fields& fields) {
    ByteWriter out;
    out.text("pgtune model 3\n");
    out.number(fields.deviation);
    out.number(std::uint64_t{7});
    for (const double loss : {0.1, 0.2}) out.number(loss);
    out.number(std::uint64_t{2});
    for (const auto& texts :
         {std::vector<std::string>{"a GPU"}, {"a template"}, fields.names, fields.kinds, fields.problems})
      out.texts(texts);
    for (std::size_t i = 0; i < fields.kinds.size(); ++i) out.number(fields.loss);
    out.number(0.0);  // trees: a base, no node, no root
    for (int i = 0; i < 2; ++i) out.number(std::uint64_t{0});
    if (fields.more) out.number(0.0);
    return Predictor::from_bytes(std::move(out).bytes()).has_value();
  };
  EXPECT_TRUE(is_read({}));
  EXPECT_FALSE(is_read({.more = true}));
  EXPECT_FALSE(is_read({.names = {"tile", "noise"}}));
  EXPECT_FALSE(is_read({.problems = {}}));
  EXPECT_FALSE(is_read({.deviation = -0.1}));
  for (const double number : {std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(is_read({.deviation = number}));
    EXPECT_FALSE(is_read({.loss = number}));
  }
}

}  // namespace
}  // namespace pgtune::search
