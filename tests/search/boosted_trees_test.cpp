// SPDX-License-Identifier: MIT
#include "tuner/search/boosted_trees.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tuner/search/byte_file.hpp"

namespace pgtune::search {
namespace {

struct Data {
  FeatureRows rows;
  std::vector<double> targets;
};

/// Friedman's first function (1991), of ten features of which five matter, without noise.
Data friedman(std::size_t count, std::uint64_t seed) {
  Data out{{10, {}}, {}};
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    for (int column = 0; column < 10; ++column)
      out.rows.values.push_back(static_cast<float>(static_cast<double>(random() >> 11) * 0x1.0p-53));
    const float* x = out.rows.row(i);
    out.targets.push_back(10 * std::sin(3.14159265 * x[0] * x[1]) + 20 * std::pow(x[2] - 0.5, 2) + 10 * x[3] +
                          5 * x[4]);
  }
  return out;
}

double share_explained(const BoostedTrees& trees, const Data& data) {
  double mean = 0, all = 0, left = 0;
  for (const double target : data.targets) mean += target / static_cast<double>(data.targets.size());
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    all += std::pow(data.targets[i] - mean, 2);
    left += std::pow(data.targets[i] - trees.predict(data.rows.row(i)), 2);
  }
  return 1 - left / all;
}

BoostedTrees::Options one_tree(int depth) {
  BoostedTrees::Options options;
  options.trees = 1;
  options.depth = depth;
  options.rate = options.row_share = options.column_share = 1;
  options.regularization = 0;
  options.least_rows = 1;
  return options;
}

// Worked by hand: the mean is 4; the best cut is between 2 and 3, where the sides' means are 1 and 7.
TEST(BoostedTrees, OneSplitIsTheBestOne) {
  const FeatureRows rows{1, {1, 2, 3, 4}};
  const std::vector<double> targets{0, 2, 6, 8};
  const BoostedTrees trees = BoostedTrees::fit(rows, targets, one_tree(1));
  for (const auto& [x, expected] :
       {std::pair{0.F, 1.0}, std::pair{2.F, 1.0}, std::pair{2.5F, 7.0}, std::pair{9.F, 7.0}})
    EXPECT_NEAR(trees.predict(&x), expected, 1e-6) << x;
}

TEST(BoostedTrees, OneOfFourMayBeSplitOff) {
  const auto expect = [](const std::vector<double>& targets, std::vector<std::pair<float, double>> predictions) {
    const BoostedTrees trees = BoostedTrees::fit(FeatureRows{1, {1, 2, 3, 4}}, targets, one_tree(1));
    for (const auto& [x, expected] : predictions) EXPECT_NEAR(trees.predict(&x), expected, 1e-6) << x;
  };
  expect({0, 0, 0, 8}, {{3.F, 0}, {4.F, 8}, {9.F, 8}});
  expect({0, 4.5, 7.75, 7.75},
         {{1.F, 0}, {2.F, 20.0 / 3}, {4.F, 20.0 / 3}});  // 25 / 1 + 25 / 3 and not 30.25 / 2 twice
}

TEST(BoostedTrees, LeavesAreShrunkAndNotTooSmall) {
  const FeatureRows rows{1, {1, 2, 3, 4}};
  const std::vector<double> targets{0, 2, 6, 8};
  auto options = one_tree(1);
  options.regularization = 2;  // of leaves of two rows: half
  options.rate = 0.5;
  const float low = 1;
  EXPECT_NEAR(BoostedTrees::fit(rows, targets, options).predict(&low), 4 - 0.5 * 6 / 4, 1e-6);
  options.least_rows = 3;
  EXPECT_NEAR(BoostedTrees::fit(rows, targets, options).predict(&low), 4, 1e-6);
}

TEST(BoostedTrees, MissingValuesAreAKindOfTheirOwn) {
  const FeatureRows rows{1, {kMissing, kMissing, 1, 2}};
  const std::vector<double> targets{10, 10, 1, 1};
  const BoostedTrees trees = BoostedTrees::fit(rows, targets, one_tree(1));
  const float missing = kMissing, known = -5;
  EXPECT_NEAR(trees.predict(&missing), 10, 1e-6);
  EXPECT_NEAR(trees.predict(&known), 1, 1e-6);
}

TEST(BoostedTrees, LearnFriedmansFunction) {
  const Data known = friedman(1000, 1), unseen = friedman(500, 2);
  const BoostedTrees trees = BoostedTrees::fit(known.rows, known.targets);
  EXPECT_GT(share_explained(trees, known), 0.97);
  EXPECT_GT(share_explained(trees, unseen), 0.93);
}

TEST(BoostedTrees, RepeatBySeed) {
  const Data data = friedman(200, 1);
  BoostedTrees::Options other;
  other.seed = 2;
  const double once = BoostedTrees::fit(data.rows, data.targets).predict(data.rows.row(0));
  EXPECT_EQ(BoostedTrees::fit(data.rows, data.targets).predict(data.rows.row(0)), once);
  EXPECT_NE(BoostedTrees::fit(data.rows, data.targets, other).predict(data.rows.row(0)), once);
}

TEST(BoostedTrees, NodesThatLeadAstrayAreRefused) {
  const auto is_read = [](const std::vector<BoostedTrees::Node>& nodes, const std::vector<std::int32_t>& roots) {
    ByteWriter out;
    out.number(0.0);
    out.number(std::uint64_t{nodes.size()});
    for (const BoostedTrees::Node& node : nodes)
      out.number(node.column), out.number(node.threshold), out.number(node.first), out.number(node.value);
    out.number(std::uint64_t{roots.size()});
    for (const std::int32_t root : roots) out.number(root);
    const std::string bytes = std::move(out).bytes();
    ByteReader in(bytes);
    return BoostedTrees::read(in, 2).has_value() && in.at_end();
  };
  EXPECT_TRUE(is_read({{1, 0, 1, 0}, {}, {}}, {0}));
  EXPECT_FALSE(is_read({{2, 0, 1, 0}, {}, {}}, {0})) << "there is no such column";
  EXPECT_FALSE(is_read({{1, 0, 2, 0}, {}, {}}, {0})) << "the second child is behind the end";
  EXPECT_FALSE(is_read({{1, 0, 0, 0}, {}, {}}, {0})) << "it is its own child";
  EXPECT_FALSE(is_read({{1, 0, -2, 0}, {}, {}}, {0}));
  for (const std::int32_t root : {-1, 1}) EXPECT_FALSE(is_read({{}}, {root})) << root;
}

TEST(BoostedTrees, OfNothingPredictNothing) {
  const float x = 1;
  EXPECT_EQ(BoostedTrees::fit({1, {}}, {}).predict(&x), 0);
}

}  // namespace
}  // namespace pgtune::search
