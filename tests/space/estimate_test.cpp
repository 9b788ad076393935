// SPDX-License-Identifier: MIT
// What a template says of a variant before it is measured: bytes through L2, and a guess at its time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/features.hpp"
#include "tuner/space/variant_scope.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

using testing::device;
using ::testing::HasSubstr;
using testing::json;
using testing::parse_or_die;
using testing::problem;
using testing::reader;
using testing::sample_json;
using testing::shipped_template;

Result<std::optional<double>> traffic(const std::string& expression) {
  json document = sample_json();
  document["traffic"] = {{"l2_bytes", expression}};
  const TemplateDefinition definition = parse_or_die(document);
  return l2_bytes(definition, definition.default_variant(), problem(512, 256, 128), device());
}

TEST(Traffic, SeesParametersDerivedValuesProblemAndDevice) {
  EXPECT_EQ(traffic("BM").value(), 64.0);
  EXPECT_EQ(traffic("THREADS + M").value(), 256.0 + 512.0);
  EXPECT_EQ(traffic("SM_COUNT * K").value(), 132.0 * 128.0);
  EXPECT_EQ(traffic("COPY == 'cp_async' ? 7 : 8").value(), 7.0);
}

TEST(Traffic, ATemplateNeedNotSay) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  EXPECT_EQ(l2_bytes(definition, definition.default_variant(), problem(), device()).value(), std::nullopt);
}

TEST(Traffic, OfSharedMemoryIsThatOfL2UnlessToldOtherwise) {
  json document = sample_json();
  document["traffic"] = {{"l2_bytes", "BM"}};
  const auto smem = [&] {
    const TemplateDefinition definition = parse_or_die(document);
    return smem_bytes(definition, definition.default_variant(), problem(512, 256, 128), device()).value();
  };
  EXPECT_EQ(smem(), 64.0);
  document["traffic"]["smem_bytes"] = "BM + M";
  EXPECT_EQ(smem(), 64.0 + 512.0);
}

TEST(Traffic, ErrorsNameFieldCaretAndVariant) {
  EXPECT_EQ(traffic("M / (BM - 64)").error().text(),
            "template 'sample': traffic.l2_bytes: division by zero\n  M / (BM - 64)\n    ^\n"
            "  with BM=64,TM=4,COPY=cp_async");
  EXPECT_THAT(traffic("0 - M").error().text(), HasSubstr("traffic.l2_bytes: is -512, but must not be negative"));
  EXPECT_THAT(traffic("M << 62").error().text(), HasSubstr("traffic.l2_bytes: "));
}

TEST(Traffic, AVariantOfAnotherTemplateIsRefused) {
  json document = sample_json();
  document["traffic"] = {{"l2_bytes", "BM"}};
  const TemplateDefinition definition = parse_or_die(document);
  Variant other = definition.default_variant();
  other.parameters[0].value = 63;
  EXPECT_THAT(l2_bytes(definition, other, problem(), device()).error().text(), HasSubstr("no value '63'"));
}

/// Tile by tile, as the kernel copies: what lies beyond an edge is not read.
double bytes_of_all_tiles(std::int64_t bm, std::int64_t bn, const Problem& shape) {
  std::int64_t floats = 0;
  for (std::int64_t row = 0; row < shape.m; row += bm) {
    for (std::int64_t column = 0; column < shape.n; column += bn) {
      floats += (std::min(bm, shape.m - row) + std::min(bn, shape.n - column)) * shape.k;
    }
  }
  return static_cast<double>(4 * shape.batch * floats);
}

TEST(Traffic, OfSgemmSimtIsEveryTileOfEveryCta) {
  const auto definition = load_template(PGTUNE_SOURCE_DIR "/configs/sgemm_simt.json", {});
  ASSERT_TRUE(definition) << definition.error().text();
  for (Problem shape : {problem(1024, 512, 256), problem(1000, 129, 77), problem(1, 1, 1), problem(8192, 8192, 8192)}) {
    shape.batch = 3;
    for (const auto& [text, bm, bn] : {std::tuple{"", 128, 128}, std::tuple{"BM=64,BN=256", 64, 256}}) {
      const auto bytes = l2_bytes(*definition, parse_variant(*definition, text).value(), shape, device());
      ASSERT_TRUE(bytes) << bytes.error().text();
      EXPECT_EQ(*bytes, bytes_of_all_tiles(bm, bn, shape)) << shape.title() << " " << text;
    }
  }
}

Result<std::optional<double>> cost(const json& model) {
  json document = sample_json();
  document["cost"] = model;
  const TemplateDefinition definition = parse_or_die(document);
  return cost_clocks(definition, definition.default_variant(), problem(512, 256, 128), device());
}

TEST(Cost, StepsSeeAllNamesAndTheStepsBeforeThem) {
  const json steps = {{{"name", "TILES"}, {"expr", "ceil_div(M, BM) * ceil_div(N, BM)"}},
                      {{"name", "ROUNDS"}, {"expr", "ceil_div(TILES, SM_COUNT)"}}};
  EXPECT_EQ(cost({{"steps", steps}, {"clocks", "ROUNDS * K * THREADS"}}).value(), 128.0 * 256.0);
  EXPECT_EQ(cost({{"clocks", "K"}}).value(), 128.0);
  EXPECT_EQ(cost({{"clocks", "0"}}).value(), 0.0);
}

TEST(Cost, ATemplateNeedNotHaveOne) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  EXPECT_EQ(cost_clocks(definition, definition.default_variant(), problem(), device()).value(), std::nullopt);
}

TEST(Cost, ErrorsNameStepCaretAndVariant) {
  const json steps = {{{"name", "BAD"}, {"expr", "M / (BM - 64)"}}};
  EXPECT_EQ(cost({{"steps", steps}, {"clocks", "BAD"}}).error().text(),
            "template 'sample': cost step 'BAD': division by zero\n  M / (BM - 64)\n    ^\n"
            "  with BM=64,TM=4,COPY=cp_async");
  EXPECT_THAT(cost({{"clocks", "0 - M"}}).error().text(), HasSubstr("cost.clocks: is -512, but must not be negative"));
}

TEST(Cost, ItsStepsAreNamesOfItsOwn) {
  json document = sample_json();
  document["cost"] = {{"steps", {{{"name", "BM"}, {"expr", "1"}}}}, {"clocks", "BM"}};
  const auto taken = parse_template(document.dump(), "any.json", reader(testing::sample_files()));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().text(), HasSubstr("BM"));
}

TEST(Cost, OfManyVariantsIsThatOfEach) {
  const TemplateDefinition definition = shipped_template("sgemm_tma");
  const Problem shape = problem(1000, 4096, 512);
  const auto list = legal_variants(definition, shape, device());
  ASSERT_TRUE(list && !list->variants.empty());
  const auto all = cost_clocks(definition, list->variants, shape, device());
  ASSERT_TRUE(all) << all.error().text();
  for (std::size_t i = 0; i < all->size(); ++i)
    ASSERT_EQ((*all)[i], cost_clocks(definition, list->variants[i], shape, device()).value());
}

TEST(Cost, OfManyVariantsFailsAsOfOne) {
  json document = sample_json();
  document["cost"] = {{"steps", json::array()}, {"clocks", "M / (BM - 64)"}};
  const TemplateDefinition definition = parse_or_die(document);
  const std::vector<Variant> variants{definition.default_variant()};
  EXPECT_EQ(cost_clocks(definition, variants, problem(), device()).error().text(),
            cost_clocks(definition, variants.front(), problem(), device()).error().text());
}

TEST(Features, AreTheNumbersThatTheirNamesSay) {
  for (const char* name : {"sgemm_tma", "sgemm_small"}) {
    const TemplateDefinition definition = shipped_template(name);
    const Problem shape = problem(100, 64, 512);
    const DeviceInfo gpu = device();
    const auto list = legal_variants(definition, shape, gpu);
    ASSERT_TRUE(list && !list->variants.empty()) << name;
    const Features features(definition, shape, gpu);
    const auto all = features.of(list->variants);
    ASSERT_TRUE(all) << all.error().text();
    const std::size_t width = features.names().size();
    ASSERT_EQ(all->features.size(), list->variants.size() * width);
    for (std::size_t i = 0; i < list->variants.size(); ++i) {
      const auto scope = VariantScope::create(definition, list->variants[i], shape, gpu);
      ASSERT_TRUE(scope) << scope.error().text();
      std::size_t known = 0;
      for (std::size_t column = 0; column < width; ++column) {
        const auto value = scope->value(features.names()[column]);
        if (!value) continue;
        ++known;
        const auto number = static_cast<double>(*value);
        EXPECT_FLOAT_EQ(all->features[i * width + column],
                        static_cast<float>(std::copysign(std::log2(1 + std::abs(number)), number)))
            << features.names()[column];
      }
      EXPECT_GE(known, definition.derived.size() + definition.values.size() + 10);
      EXPECT_EQ(all->costs[i], cost_clocks(definition, list->variants[i], shape, gpu).value());
    }
  }
}

TEST(Features, AreThoseOfTheLargestKernelThatIsLaunched) {
  const TemplateDefinition definition = parse_or_die(sample_json());  // M CTAs of 128 threads follow where K > 1024
  const std::vector<Variant> variants{definition.default_variant()};
  const DeviceInfo gpu = device();
  for (const auto& [n, k, ctas, threads] :
       {std::tuple{256, 1024, 32, 256}, std::tuple{256, 1025, 512, 128}, std::tuple{2048, 1025, 256, 256},
        std::tuple{4096, 1025, 512, 256}}) {  // the third has as many threads in either: the first of them counts
    const Problem shape = problem(512, n, k);
    const Features features(definition, shape, gpu);
    const auto all = features.of(variants).value().features;
    const auto value = [&](const char* name) {
      const auto at = std::find(features.names().begin(), features.names().end(), name);
      return all.at(static_cast<std::size_t>(at - features.names().begin()));
    };
    EXPECT_FLOAT_EQ(value("ctas"), static_cast<float>(std::log2(1.0 + ctas))) << n << " " << k;
    EXPECT_FLOAT_EQ(value("threads"), static_cast<float>(std::log2(1.0 + threads))) << n << " " << k;
  }
}

TEST(Features, SayWhichRulesOfThePresetAreBroken) {
  json document = sample_json();
  document["values"] = json::array({{{"name", "ROWS"}, {"expr", "2 * BM"}}});
  document["preset"] = json::array({{{"expr", "ROWS > 1"}, {"reason", "one row is slow"}},
                                    {{"expr", "BM > 1000000"}, {"reason", "so is a small tile"}}});
  TemplateDefinition definition = parse_or_die(document);
  const Problem shape = problem();
  const DeviceInfo gpu = device();
  const std::vector<Variant> variants{definition.default_variant()};
  for (const bool whole_grid : {false, true}) {
    definition.whole_grid = whole_grid;
    const Features features(definition, shape, gpu);
    const auto value = [&](const std::string& name) {
      const auto all = features.of(variants).value().features;
      const auto at = std::find(features.names().begin(), features.names().end(), name);
      return at == features.names().end() ? -1 : all[static_cast<std::size_t>(at - features.names().begin())];
    };
    EXPECT_EQ(value("breaks ROWS > 1"), 0);
    EXPECT_EQ(value("breaks BM > 1000000"), 1);
  }
}

TEST(InPreset, NamesAVariantOfAnotherTemplate) {
  json document = sample_json();
  document["preset"] = json::array({{{"expr", "BM > 1"}, {"reason", "small"}}});
  const TemplateDefinition definition = parse_or_die(document);
  const std::vector<Variant> other{{"other", {{"X", std::int64_t{1}}}}};
  const auto found = in_preset(definition, other, problem(), device());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr(definition.name));
}

}  // namespace
}  // namespace pgtune::space
