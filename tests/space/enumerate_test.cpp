// SPDX-License-Identifier: MIT
// Enumeration against brute force, counts of what rules removed, and errors.
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <random>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::space {
namespace {

using testing::device;
using ::testing::HasSubstr;
using testing::json;
using testing::parse_or_die;
using testing::problem;
using testing::sample_json;
using testing::shipped_template;

std::vector<std::string> keys(const Enumeration& enumeration) {
  std::vector<std::string> out;
  for (const Variant& variant : enumeration.variants) out.push_back(variant.key());
  return out;
}

/// A template with these parameters and rules and nothing else of interest.
json bare(const json& parameters, const json& derived, const json& constraints, const json& legality = json::array()) {
  json out = json::parse(R"json({"schema": 1, "name": "bare", "source": "../templates/sample.cu", "dtypes": ["f32"],
    "kernels": [{"symbol": "k", "grid": ["1"], "block": ["1"], "arguments": []}]})json");
  out["parameters"] = parameters;
  out["derived"] = derived;
  out["constraints"] = constraints;
  out["legality"] = legality;
  return out;
}

json parameter(const std::string& name, const std::vector<int>& values) {
  return {{"name", name}, {"values", values}, {"default", values.front()}};
}
json named(const std::string& name, const std::string& expression) { return {{"name", name}, {"expr", expression}}; }
json rule(const std::string& expression) {
  return {{"expr", expression}, {"reason", fmt::format("because {}", expression)}};
}

TEST(Enumerate, CountsTheSample) {
  const auto found = enumerate(parse_or_die(sample_json()), problem(), device());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->space, 18);
  EXPECT_EQ(keys(*found),
            (std::vector<std::string>{"BM=32,TM=2,COPY=ldg", "BM=32,TM=4,COPY=ldg", "BM=32,TM=4,COPY=cp_async",
                                      "BM=32,TM=8,COPY=ldg", "BM=32,TM=8,COPY=cp_async", "BM=64,TM=2,COPY=ldg",
                                      "BM=64,TM=4,COPY=ldg", "BM=64,TM=4,COPY=cp_async", "BM=64,TM=8,COPY=ldg",
                                      "BM=64,TM=8,COPY=cp_async", "BM=128,TM=4,COPY=ldg", "BM=128,TM=4,COPY=cp_async",
                                      "BM=128,TM=8,COPY=ldg", "BM=128,TM=8,COPY=cp_async"}));
  EXPECT_EQ(found->after_constraints, 14);
  ASSERT_EQ(found->removals.size(), 3U);
  EXPECT_EQ(found->removals[0].rule, "THREADS <= 1024");
  EXPECT_EQ(found->removals[0].removed, 2);  // BM=128, TM=2 with either COPY
  EXPECT_EQ(found->removals[1].removed, 2);  // TM=2 with cp_async, where it is not already gone
  EXPECT_EQ(found->removals[2].removed, 0);
  EXPECT_EQ(found->removals[2].kind, Removal::Kind::kLegality);
}

TEST(Enumerate, LegalityDependsOnTheProblem) {
  const auto found = enumerate(parse_or_die(sample_json()), problem(127, 129, 131), device());
  EXPECT_EQ(found.value().after_constraints, 14);
  EXPECT_EQ(found->removals[2].removed, 6);
  EXPECT_EQ(found->removals.back().kind, Removal::Kind::kLaunch);
  EXPECT_EQ(found->removals.back().removed, 8);  // TMA cannot read such rows either
}

TEST(Enumerate, ConstraintsSeeTheDevice) {
  json document = sample_json();
  document["constraints"].push_back(rule("SMEM_BYTES <= SMEM_LIMIT"));
  DeviceInfo small = device();
  small.smem_per_block_bytes = 8192;
  const auto found = enumerate(parse_or_die(document), problem(), small);
  for (const Variant& variant : found.value().variants) EXPECT_NE(*variant.find("BM"), ParameterValue(128));
  EXPECT_EQ(found->removals[2].removed, 6);  // all of BM=128, before THREADS is even known
  EXPECT_EQ(found->removals[0].removed, 0);
}

TEST(Enumerate, AnEmptySpaceIsNoError) {
  json document = sample_json();
  document["constraints"].push_back(rule("ARCH >= 100"));
  const auto found = enumerate(parse_or_die(document), problem(), device());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->variants.empty());
  EXPECT_EQ(found->after_constraints, 0);
  EXPECT_EQ(found->removals[2].removed, 18);
}

/// Random spaces over four parameters with rules of random shape.
class RandomSpace : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomSpace, EqualsBruteForce) {
  std::mt19937 random(GetParam());
  const std::vector<std::string> names{"PA", "PB", "PC", "PD"};
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  json parameters = json::array();
  for (const std::string& name : names) {
    std::vector<int> values(1 + pick(5));
    std::iota(values.begin(), values.end(), static_cast<int>(1 + pick(4)));
    parameters.push_back(parameter(name, values));
  }
  const json derived =
      json::array({named("SUM", fmt::format("{} + {}", names[pick(4)], names[pick(4)])),
                   named("MIX", fmt::format("SUM * {}", names[pick(4)])), named("MIN", "min(PA, PD) - max(PB, PC)")});
  const auto term = [&] { return pick(3) == 0 ? std::string(pick(2) == 0 ? "SUM" : "MIX") : names[pick(4)]; };
  const auto random_rules = [&](const std::string& more) {
    json rules = json::array();
    // One that adds up and compares, which is looked at before everything it needs is known.
    rules.push_back(rule(fmt::format("(PA > {}) + (PB != {}) + (PC <= {}) * 2 + MIN + (MIX >= {}) < {}", pick(5),
                                     pick(5), pick(5), pick(40), 2 + pick(8))));
    for (std::size_t i = 0; i < 1 + pick(4); ++i) {
      rules.push_back(rule(fmt::format("({} * {}{}) % {} != 0", term(), term(), more, 2 + pick(4))));
    }
    return rules;
  };
  const TemplateDefinition definition = parse_or_die(bare(parameters, derived, random_rules(""), random_rules(" + K")));
  const Problem shape = problem(4, 4, static_cast<std::int64_t>(1 + pick(9)));

  TemplateDefinition unconstrained = definition;
  unconstrained.constraints.clear();
  unconstrained.legality.clear();
  std::vector<std::string> expected;
  const auto all = enumerate(unconstrained, shape, device());
  for (const Variant& variant : all.value().variants) {
    if (!why_illegal(definition, variant, shape, device()).value()) expected.push_back(variant.key());
  }
  const auto found = enumerate(definition, shape, device());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(keys(*found), expected);
  const auto listed = legal_variants(definition, shape, device());
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_EQ(listed->variants, found->variants);
  EXPECT_EQ(listed->space, found->space);

  std::int64_t constrained = 0, illegal = 0;
  for (const Removal& removal : found->removals)
    (removal.kind == Removal::Kind::kLegality ? illegal : constrained) += removal.removed;
  EXPECT_EQ(found->space - constrained, found->after_constraints);
  EXPECT_EQ(found->after_constraints - illegal, static_cast<std::int64_t>(found->variants.size()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSpace, ::testing::Range(0U, 100U));

TEST(Enumerate, RemovalGoesToTheRuleThatBindsFirst) {
  const json parameters = json::array({parameter("A", {1, 2}), parameter("B", {1, 2, 3}), parameter("C", {1, 2})});
  const auto found =
      enumerate(parse_or_die(bare(parameters, json::array(), json::array({rule("A * B * C < 0"), rule("A == 1")}))),
                problem(), device());
  EXPECT_EQ(found.value().removals[1].removed, 6);  // the whole subtree of A == 2
  EXPECT_EQ(found->removals[0].removed, 6);
}

TEST(Enumerate, HugeSpacesWithTightConstraintsAreWalkedQuickly) {
  json parameters = json::array(), constraints = json::array();
  std::vector<int> values(16);
  std::iota(values.begin(), values.end(), 0);
  for (int i = 0; i < 15; ++i) {
    parameters.push_back(parameter(fmt::format("P{}", i), values));
    if (i > 0) constraints.push_back(rule(fmt::format("P{} == P{}", i, i - 1)));
  }
  const auto found = enumerate(parse_or_die(bare(parameters, json::array(), constraints)), problem(), device());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->space, std::int64_t{1} << 60);
  EXPECT_EQ(found->variants.size(), 16U);
  parameters.push_back(parameter("P15", values));
  const auto overflow = enumerate(parse_or_die(bare(parameters, json::array(), constraints)), problem(), device());
  EXPECT_THAT(overflow.error().text(), HasSubstr("more than 2^63 points"));
}

/// Twenty parameters of four values, of which `most` may leave their usual value, counted by a derived value.
json departures(int most) {
  json parameters = json::array();
  std::string sum = "0";
  for (int i = 0; i < 20; ++i) {
    parameters.push_back(parameter(fmt::format("P{}", i), {0, 1, 2, 3}));
    sum += fmt::format(" + (P{} != 0)", i);
  }
  return bare(parameters, json::array({named("SUM", sum)}), json::array({rule(fmt::format("SUM <= {}", most))}));
}

TEST(Enumerate, ASumThatIsTooLargeAlreadyEndsItsBranch) {
  // A million million points: walked to the last parameter, the space would be refused as too large.
  const auto found = enumerate(parse_or_die(departures(2)), problem(), device());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->variants.size(), 1U + 20 * 3 + 190 * 9);
  EXPECT_EQ(found->removals[0].removed, found->space - static_cast<std::int64_t>(found->variants.size()));
}

TEST(Enumerate, TooManyVariantsAreRefused) {
  json parameters = json::array();
  std::vector<int> values(110);
  std::iota(values.begin(), values.end(), 0);
  for (const char* name : {"A", "B", "C"}) parameters.push_back(parameter(name, values));
  const auto found = enumerate(parse_or_die(bare(parameters, json::array(), json::array())), problem(), device());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("more than 1000000 legal variants"));
}

TEST(Enumerate, DivisionByZeroNamesRuleCaretAndValues) {
  const json parameters = json::array({parameter("A", {1, 2}), parameter("B", {3, 4}), parameter("C", {5})});
  const auto found =
      enumerate(parse_or_die(bare(parameters, json::array(), json::array({rule("A % (B - 4) == 0 || A > 0")}))),
                problem(), device());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(found.error().text(),
            "template 'bare': constraint: division by zero\n"
            "  A % (B - 4) == 0 || A > 0\n"
            "    ^\n"
            "  with A=1,B=4");
}

TEST(LegalVariants, FailsAsEnumerateDoes) {
  const json parameters = json::array({parameter("A", {1, 2}), parameter("B", {3, 4})});
  const auto definition =
      parse_or_die(bare(parameters, json::array(), json::array({rule("A % (B - 4) == 0 || A > 0")})));
  EXPECT_EQ(legal_variants(definition, problem(), device()).error().text(),
            enumerate(definition, problem(), device()).error().text());
}

TEST(LegalVariants, ThoseOfShippedTemplatesAreEnumerates) {
  for (const char* name : {"sgemm_tma", "gemm_mma"}) {
    TemplateDefinition definition = shipped_template(name);
    Problem shape = problem(1000, 4096, 512);
    shape.dtype = definition.dtypes.front();
    for (const bool preset : {true, false}) {
      if (!preset) definition.preset.clear();
      const auto listed = legal_variants(definition, shape, device());
      const auto counted = enumerate(definition, shape, device());
      ASSERT_TRUE(listed && counted) << name;
      EXPECT_FALSE(listed->variants.empty()) << name;
      EXPECT_EQ(listed->variants, counted->variants) << name;
    }
  }
}

TEST(Enumerate, AnEarlierRuleGuardsALaterOneAndItsDerivedValues) {
  const json parameters = json::array({parameter("A", {8}), parameter("B", {0, 2, 4})});
  const json derived = json::array({named("RATIO", "A / B")});
  const TemplateDefinition definition =
      parse_or_die(bare(parameters, derived, json::array({rule("B > 0"), rule("RATIO > 2")})));
  const auto found = enumerate(definition, problem(), device());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(keys(*found), std::vector<std::string>{"A=8,B=2"});
  const auto reason = why_illegal(definition, parse_variant(definition, "B=0").value(), problem(), device());
  EXPECT_EQ(reason.value(), "because B > 0");
}

TEST(Enumerate, VariantsThatCannotBeLaunchedAreRemovedWithTheFirstCause) {
  json document = bare(json::array({parameter("A", {1, 2, 4}), parameter("B", {512, 1024, 0, 70000})}),
                       json::array({named("SHARE", "8 / (A - 1)")}), json::array());
  document["defines"] = json::array({named("PARTS", "8 / (A - 2)")});
  document["kernels"][0]["grid"] = {"1", "B"};
  document["kernels"][0]["block"] = {"512", "max(1, B / 512 % 3)"};
  const auto found = enumerate(parse_or_die(document), problem(), device());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(keys(*found), (std::vector<std::string>{"A=4,B=512", "A=4,B=1024"}));
  EXPECT_EQ(found->legal, 2);
  std::map<std::string, std::int64_t> removed;
  for (const Removal& removal : found->removals) removed[removal.reason] += removal.removed;
  EXPECT_EQ(removed, (std::map<std::string, std::int64_t>{
                         {"derived value 'SHARE': division by zero; first with A=1,B=512", 4},
                         {"define 'PARTS': division by zero; first with A=2,B=512", 2},
                         {"kernel 'k': grid.y is 0, but must be between 1 and 65535; first with A=2,B=0", 4}}));
}

TEST(Enumerate, DerivedValueErrorsNameIt) {
  const json parameters = json::array({parameter("A", {8}), parameter("B", {0, 2})});
  const json derived = json::array({named("RATIO", "A / B")});
  const auto found =
      enumerate(parse_or_die(bare(parameters, derived, json::array({rule("RATIO > 2")}))), problem(), device());
  EXPECT_THAT(found.error().text(),
              HasSubstr("derived value 'RATIO': division by zero\n  A / B\n    ^\n  with A=8,B=0"));
}

TEST(WhyIllegal, GivesTheFirstReason) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  const auto reason = [&](std::string_view text, const Problem& shape) {
    return why_illegal(definition, parse_variant(definition, text).value(), shape, device()).value();
  };
  EXPECT_EQ(reason("BM=64", problem()), std::nullopt);
  EXPECT_EQ(reason("BM=128,TM=2", problem()), "a CTA holds at most 1024 threads");
  EXPECT_EQ(reason("BM=32,TM=2", problem()), "cp.async moves 16 bytes");
  EXPECT_EQ(reason("BM=64", problem(127, 129, 131)), "rows of A are not aligned to 16 bytes");
}

TEST(WhyIllegal, ForeignVariantsAreErrors) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  const auto error = [&](const Variant& variant) {
    const auto result = why_illegal(definition, variant, problem(), device());
    return result ? std::string("no error") : result.error().text();
  };
  Variant variant = definition.default_variant();
  variant.parameters[0].value = std::int64_t{65};
  EXPECT_THAT(error(variant), HasSubstr("BM has no value '65'"));
  variant = definition.default_variant();
  variant.parameters[0].name = "BX";
  EXPECT_THAT(error(variant), HasSubstr("'BX'"));
  variant.parameters.pop_back();
  EXPECT_THAT(error(variant), HasSubstr("has 2 parameters"));
}

TEST(Enumerate, DtypeMustFit) {
  TemplateDefinition definition = parse_or_die(sample_json());
  definition.dtypes.clear();
  EXPECT_THAT(enumerate(definition, problem(), device()).error().text(), HasSubstr("does not compute in f32"));
}

TEST(Enumerate, APresetLeavesOutLegalVariants) {
  json document = bare(json::array({parameter("BM", {64, 32, 128})}), json::array(), json::array({rule("BM > 32")}));
  document["preset"] = json::array({rule("BM < N / 4")});
  const TemplateDefinition definition = parse_or_die(document);
  const Problem wide = problem(256, 512, 64);
  const Enumeration found = enumerate(definition, wide, device()).value();
  EXPECT_EQ(found.legal, 2);
  EXPECT_EQ(keys(found), std::vector<std::string>{"BM=64"});
  EXPECT_EQ(found.removals.back().kind, Removal::Kind::kPreset);
  EXPECT_EQ(found.removals.back().removed, 1);
  EXPECT_EQ(why_illegal(definition, parse_variant(definition, "BM=128").value(), wide, device()).value(), std::nullopt);

  const TemplateSet set(definition), whole = set.whole_grid();
  EXPECT_EQ(enumerate(whole, wide, device()).value().variants.size(), 2U);
  EXPECT_NE(whole.id(), set.id());
  EXPECT_EQ(whole.ids(), set.ids());
  EXPECT_TRUE(set.has_preset());
  EXPECT_FALSE(whole.has_preset());
  EXPECT_EQ(enumerate(whole, wide, device()).value().removals.size(), 1U) << "the rule of legality alone";
  EXPECT_EQ(whole.definitions().front().preset.size(), 1U) << "what it says of a variant is still known";
  EXPECT_EQ(
      in_preset(whole.definitions().front(), legal_variants(whole, wide, device()).value().variants, wide, device())
          .value(),
      (std::vector<bool>{true, false}));

  document["seeds"] = {"BM=64"};
  const TemplateSet seeded(parse_or_die(document));
  EXPECT_NE(seeded.id(), set.id()) << "a finished search of other variants is no answer";
  EXPECT_EQ(seeded.whole_grid_id(), set.whole_grid_id());
  EXPECT_EQ(seeded.ids(), set.ids()) << "what was measured counts for both";
}

TEST(Enumerate, APolicyLeavesOutLegalVariantsOfTheWholeGridToo) {
  json document = bare(json::array({parameter("BM", {64, 32, 128})}), json::array(), json::array({rule("BM > 32")}));
  document["preset"] = json::array({rule("BM < N / 4")});
  const TemplateSet without(parse_or_die(document));
  document["policy"] = json::array({rule("BM != 128")});
  const TemplateSet set(parse_or_die(document)), whole = set.whole_grid();
  const TemplateDefinition& definition = set.definitions().front();
  const Problem wide = problem(256, 512, 64);
  const Enumeration found = enumerate(whole, wide, device()).value();
  EXPECT_EQ(keys(found), std::vector<std::string>{"BM=64"});
  EXPECT_EQ(found.after_constraints, 1);
  EXPECT_EQ(found.removals.back().kind, Removal::Kind::kPolicy);
  EXPECT_EQ(found.removals.back().removed, 1);
  EXPECT_EQ(legal_variants(whole, wide, device()).value().variants, found.variants);
  document["policy"][0]["expr"] = "BM != 128 || M > 256";
  const TemplateSet of_problem = TemplateSet(parse_or_die(document)).whole_grid();
  EXPECT_EQ(legal_variants(of_problem, wide, device()).value().variants, found.variants);
  EXPECT_EQ(legal_variants(of_problem, problem(512, 512, 64), device()).value().variants.size(), 2U);
  const Variant left_out = parse_variant(definition, "BM=128").value();
  EXPECT_EQ(why_illegal(definition, left_out, wide, device()).value(), std::nullopt);
  EXPECT_EQ(why_illegal(definition, parse_variant(definition, "BM=32").value(), wide, device()).value(),
            "because BM > 32");

  EXPECT_EQ(set.ids(), without.ids()) << "what was measured counts for both";
  EXPECT_NE(set.id(), without.id()) << "a finished search of other variants is no answer";
  EXPECT_NE(set.whole_grid_id(), without.whole_grid_id());
}

Problem bf16_problem(std::optional<ElementType> output = std::nullopt) {
  Problem out = problem();
  out.dtype = Dtype::kBf16;
  out.output = output;
  return out;
}

TEST(Enumerate, TheOutputTypeMustFit) {
  json document = sample_json();
  document["dtypes"] = {"f32", "bf16"};
  const TemplateDefinition usual = parse_or_die(document);
  EXPECT_TRUE(usual.computes(problem()));
  EXPECT_TRUE(usual.computes(bf16_problem()));
  EXPECT_FALSE(usual.computes(bf16_problem(ElementType::kFloat32)));
  EXPECT_THAT(enumerate(usual, bf16_problem(ElementType::kFloat32), device()).error().text(),
              HasSubstr("does not write f32 output in bf16"));
  document["outputs"] = {"f32"};
  const TemplateDefinition wide = parse_or_die(document);
  EXPECT_TRUE(wide.computes(problem()));
  EXPECT_FALSE(wide.computes(bf16_problem()));
  EXPECT_TRUE(wide.computes(bf16_problem(ElementType::kFloat32)));
}

TEST(Enumerate, ConstraintsMayDependOnTheTypes) {
  json document = sample_json();
  document["dtypes"] = {"f32", "bf16"};
  document["constraints"].push_back({{"expr", "DTYPE == 'bf16' || BM <= 64"}, {"reason", "only bf16 is small"}});
  const TemplateDefinition definition = parse_or_die(document);
  const auto count = [&](const Problem& asked) {
    return enumerate(definition, asked, device()).value().variants.size();
  };
  EXPECT_GT(count(bf16_problem()), count(problem()));
}

}  // namespace
}  // namespace pgtune::space
