// SPDX-License-Identifier: MIT
// A valid template arrives in the definition completely.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/template/sample_template.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

using testing::json;
using testing::parse_or_die;
using testing::sample_json;

TEST(TemplateParser, ReadsTheSpace) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  EXPECT_EQ(definition.name, "sample");
  EXPECT_EQ(definition.description, "for tests");
  EXPECT_EQ(definition.dtypes, std::vector<Dtype>{Dtype::kF32});
  ASSERT_EQ(definition.parameters.size(), 3U);
  EXPECT_EQ(definition.parameters[0].values, (std::vector<ParameterValue>{32, 64, 128}));
  EXPECT_EQ(definition.parameters[0].description, "rows");
  EXPECT_EQ(definition.parameters[2].default_value, ParameterValue("cp_async"));
  EXPECT_EQ(definition.default_variant().key(), "BM=64,TM=4,COPY=cp_async");
  ASSERT_EQ(definition.derived.size(), 2U);
  EXPECT_EQ(definition.derived[1].name, "SMEM_BYTES");
  ASSERT_EQ(definition.constraints.size(), 2U);
  EXPECT_EQ(definition.constraints[0].expression.text(), "THREADS <= 1024");
  EXPECT_EQ(definition.legality.at(0).reason, "rows of A are not aligned to 16 bytes");
  EXPECT_EQ(definition.defines.at(1).name, "NO_EDGE");
}

TEST(TemplateParser, ReadsTheLaunch) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  EXPECT_TRUE(definition.zero_workspace);
  EXPECT_EQ(definition.workspace_bytes.value().text(), "M * N * 4");
  const TensorMapSpec& map = definition.tensor_maps.at(0);
  EXPECT_EQ(map.dims.size(), 2U);
  EXPECT_EQ(map.strides.at(0).text(), "LDA");
  EXPECT_EQ(map.swizzle, Swizzle::k64B);
  EXPECT_EQ(map.l2_promotion, L2Promotion::k128B);
  ASSERT_EQ(definition.kernels.size(), 2U);
  const KernelSpec& kernel = definition.kernels[0];
  EXPECT_FALSE(kernel.when);
  EXPECT_EQ(kernel.grid.size(), 3U);
  EXPECT_TRUE(kernel.cluster.empty());
  EXPECT_EQ(kernel.l2_window, (L2Window{Operand::kB, L2Access::kPersisting, 0.5}));
  ASSERT_EQ(kernel.arguments.size(), 7U);
  EXPECT_EQ(kernel.arguments[1].operand, Operand::kWorkspace);
  EXPECT_EQ(kernel.arguments[2].tensor_map, "map_a");
  EXPECT_EQ(kernel.arguments[4].kind, ArgumentKind::kInt64);
  EXPECT_EQ(kernel.arguments[6].scalar, "beta");
  EXPECT_EQ(definition.kernels[1].when.value().text(), "K > 1024");
  EXPECT_EQ(definition.source->name, "sample.cu");
}

TEST(TemplateParser, TensorMapsAreLikeOthersButForTheirBox) {
  json document = sample_json();
  json& maps = document["tensor_maps"];
  maps.insert(maps.begin(), maps[0]);
  maps[0]["when"] = "M == 1";
  maps[0]["operand"] = "B";
  maps.push_back({{"name", "last"}, {"like", "map_a"}, {"box", {"16", "8"}}});
  const TemplateDefinition definition = parse_or_die(document);
  ASSERT_EQ(definition.tensor_maps.size(), 4U);
  const TensorMapSpec &first = definition.tensor_maps[2], &second = definition.tensor_maps[3];
  EXPECT_EQ(first.name, "last");
  EXPECT_EQ(first.operand, Operand::kB);
  EXPECT_EQ(first.when.value().text(), "M == 1");
  EXPECT_EQ(first.box.at(1).text(), "8");
  EXPECT_EQ(second.name, "last");
  EXPECT_EQ(second.operand, Operand::kA);
  EXPECT_FALSE(second.when);
  EXPECT_EQ(second.strides.at(0).text(), "LDA");
  EXPECT_EQ(definition.tensor_maps[1].box.at(1).text(), "BM");
}

TEST(TemplateParser, OptionalPartsMayBeAbsent) {
  json document = json::parse(R"json({"schema": 1, "name": "tiny", "source": "../templates/sample.cu",
    "dtypes": ["f32"], "parameters": [{"name": "BM", "values": [8], "default": 8}],
    "kernels": [{"symbol": "k", "grid": ["1"], "block": ["BM"], "arguments": []}]})json");
  const TemplateDefinition definition = parse_or_die(document);
  EXPECT_TRUE(definition.constraints.empty());
  EXPECT_FALSE(definition.workspace_bytes);
  EXPECT_FALSE(definition.zero_workspace);
}

TEST(TemplateParser, WhatOnlyCallersNeedIsReadAndLeavesTheContentHashAsItIs) {
  json document = sample_json();
  const std::string before = parse_or_die(document).content_hash;
  document["kernels"][0]["co_resident"] = "N > 1";
  const TemplateDefinition definition = parse_or_die(document);
  EXPECT_EQ(definition.kernels[0].co_resident.value().text(), "N > 1");
  EXPECT_FALSE(definition.kernels[1].co_resident);
  EXPECT_EQ(definition.content_hash, before);
}

TEST(TemplateParser, AKernelsModuleIsReadAndLeavesTheContentHashAsItIs) {
  const testing::Files files{{"../templates/sample.cu", "#include \"reduce.cuh\"\n"}, {"../templates/reduce.cuh", ""}};
  json document = sample_json();
  const auto plain = parse_template(document.dump(), "sample.json", testing::reader(files));
  document["kernels"][1]["module"] = {{"header", "reduce.cuh"}, {"defines", {"TM", "THREADS", "EDGE"}}};
  const auto apart = parse_template(document.dump(), "sample.json", testing::reader(files));
  ASSERT_TRUE(plain && apart) << apart.error().text();
  EXPECT_FALSE(apart->kernels[0].module);
  EXPECT_EQ(apart->kernels[1].module->header, "reduce.cuh");
  EXPECT_EQ(apart->content_hash, plain->content_hash);

  const std::vector<Define> defines{{"BM", "64"}, {"TM", "4"}, {"THREADS", "256"}, {"EDGE", "0"}};
  const std::vector<KernelModule> expected{{"sample_reduce", "reduce.cuh", {defines.begin() + 1, defines.end()}}};
  EXPECT_EQ(separate_modules(*apart, {{"sample_main", {}}, {"sample_reduce", {}}}, defines), expected);
  EXPECT_TRUE(separate_modules(*apart, {{"sample_main", {}}}, defines).empty()) << "it is not launched";
}

TEST(TemplateParser, AKernelMayBeNamedInCpp) {
  json document = sample_json();
  document["kernels"][0]["symbol"] = "ns::kernel<BM, const float*, (BN > 8)>";
  EXPECT_EQ(parse_or_die(document).kernels[0].symbol, "ns::kernel<BM, const float*, (BN > 8)>");
}

TEST(TemplateParser, OneDimensionalTensorMapNeedsNoStrides) {
  json document = sample_json();
  json& map = document["tensor_maps"][0];
  map["dims"] = {"K"};
  map["box"] = {"16"};
  map["strides"] = json::array();
  EXPECT_TRUE(testing::parse(document));
  map.erase("strides");
  EXPECT_TRUE(testing::parse(document));
}

TEST(TemplateParser, EveryDocumentedNameIsKnown) {
  json document = sample_json();
  document["constraints"].push_back(
      {{"expr",
        "ARCH + SM_COUNT + SMEM_LIMIT + SMEM_PER_SM + REGS_PER_SM + L2_BYTES + BM + THREADS + "
        "ELEM_BYTES + OUT_BYTES + (DTYPE == 'f32')"},
       {"reason", "r"}});
  document["legality"].push_back({{"expr",
                                   "M + N + K + BATCH + LDA + LDB + LDC + STRIDE_A + STRIDE_B + STRIDE_C + TRANS_A + "
                                   "TRANS_B + ALIGN_A + ALIGN_B + ALIGN_C + ALPHA_IS_ONE + BETA_IS_ZERO + ELEM_BYTES + "
                                   "OUT_BYTES + DTYPE + CHAINED"},
                                  {"reason", "r"}});
  EXPECT_TRUE(testing::parse(document));
}

TEST(TemplateParser, RulesComputeTheValuesThatTheyUse) {
  json document = sample_json();
  document["values"].push_back({{"name", "ROWS_OF_TILES"}, {"expr", "ceil_div(M, BM)"}});
  document["values"].push_back({{"name", "HALF_OF_THEM"}, {"expr", "ROWS_OF_TILES / 2"}});
  document["preset"] = {{{"expr", "HALF_OF_THEM > 1"}, {"reason", "r"}}};
  document["legality"].push_back({{"expr", "ROWS_OF_TILES < 1000"}, {"reason", "r"}});
  const TemplateDefinition definition = testing::parse(document).value();
  EXPECT_THAT(definition.preset.front().expression.names(), ::testing::ElementsAre("M", "BM"));
  EXPECT_THAT(definition.legality.back().expression.names(), ::testing::ElementsAre("M", "BM"));
  EXPECT_EQ(definition.preset.front().expression.text(), "HALF_OF_THEM > 1");
}

}  // namespace
}  // namespace pgtune::space
