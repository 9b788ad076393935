// SPDX-License-Identifier: MIT
// A trained predictor in a search: template by template, part by part, and with more doubt on a GPU it has not seen.
#include "tuner/session/expected_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {
namespace {

using space::testing::device;
using space::testing::problem;
using space::testing::shipped_template;

const space::TemplateSet& templates() {
  static const space::TemplateSet set(
      std::vector<space::TemplateDefinition>{shipped_template("sgemm_tma"), shipped_template("sgemm_small")});
  return set;
}

std::vector<Variant> variants(const Problem& shape) {
  return space::legal_variants(templates().whole_grid(), shape, device()).value().variants;
}

/// Trained on one problem where time rises with the place in the space, with the first of the templates by name, or
/// both.
search::Predictor predictor(const std::string& hardware, bool with_both = true) {
  const Problem shape = problem(64, 64, 512);
  std::vector<search::Experience> known;
  for (const space::TemplateDefinition& definition : templates().definitions()) {
    auto all = space::legal_variants(space::TemplateSet(definition).whole_grid(), shape, device()).value().variants;
    all.resize(std::min<std::size_t>(all.size(), 200));
    search::Experience own{described(definition, shape, device(), all).value(), {}, "64", hardware, definition.name, 0};
    for (std::size_t i = 0; i < all.size(); ++i) own.log_times.push_back(0.005 * static_cast<double>(i));
    known.push_back(std::move(own));
    if (!with_both) break;
  }
  return search::PredictorTrainer(known).fit_all(1);
}

TEST(ExpectedTimes, AreThePredictorsOfEachTemplateWhole) {
  const search::Predictor trained = predictor(device_class(device()).hardware());
  const Problem shape = problem(128, 96, 512);
  const auto all = variants(shape);
  ASSERT_GT(all.size(), 2048U) << "several parts";
  const auto expected = expected_times(trained, templates(), shape, device(), all);
  ASSERT_TRUE(expected) << expected.error().text();
  std::vector<double> by_template;
  for (const space::TemplateDefinition& definition : templates().definitions()) {
    std::vector<Variant> own;
    for (const Variant& variant : all) {
      if (variant.template_name == definition.name) own.push_back(variant);
    }
    ASSERT_FALSE(own.empty()) << definition.name;
    const auto predicted = trained.predict(described(definition, shape, device(), own).value());
    by_template.insert(by_template.end(), predicted.begin(), predicted.end());
  }
  EXPECT_THAT(expected->log_times, ::testing::Pointwise(::testing::DoubleNear(1e-12), by_template));
  EXPECT_EQ(expected->deviation, trained.deviation());
  EXPECT_TRUE(expected->of_templates);
  EXPECT_EQ(expectation_note(trained, templates(), device()), "the model was trained on 1 shape");
}

TEST(ExpectedTimes, OfAnotherGpuAreLessCertain) {
  const search::Predictor trained = predictor("another GPU");
  const Problem shape = problem(128, 96, 512);
  const auto expected = expected_times(trained, templates(), shape, device(), variants(shape));
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->deviation, 2 * trained.deviation());
  EXPECT_THAT(expectation_note(trained, templates(), device()), ::testing::HasSubstr("none of them measured on "));
}

TEST(ExpectedTimes, OfATemplateThatWasNeverSearchedAreLessCertain) {
  const search::Predictor trained = predictor(device_class(device()).hardware(), false);
  const Problem shape = problem(128, 96, 512);
  const auto expected = expected_times(trained, templates(), shape, device(), variants(shape));
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->deviation, 2 * trained.deviation());
  EXPECT_FALSE(expected->of_templates);
  EXPECT_EQ(expectation_note(trained, templates(), device()),
            "the model was trained on 1 shape, none of them with sgemm_tma, so it explored more and does not say what "
            "was missed");
}

}  // namespace
}  // namespace pgtune::session
