// SPDX-License-Identifier: MIT
// Launch plans, and the limits of CUDA and TMA.
#include "tuner/space/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/template/sample_template.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

using testing::device;
using ::testing::HasSubstr;
using testing::json;
using testing::parse_or_die;
using testing::problem;
using testing::sample_json;

Result<LaunchPlan> plan_of(const json& document, const Problem& shape = problem(), const DeviceInfo& gpu = device(),
                           std::string_view variant = "") {
  const TemplateDefinition definition = parse_or_die(document);
  return make_launch_plan(definition, parse_variant(definition, variant).value(), shape, gpu);
}

TEST(Plan, ValuesMayUseTheProblemAndEachOther) {
  json document = sample_json();
  document["values"] = {{{"name", "TILES"}, {"expr", "ceil_div(M, BM)"}}, {{"name", "TWICE"}, {"expr", "2 * TILES"}}};
  document["kernels"][0]["grid"] = {"TWICE"};
  document["defines"].push_back({{"name", "MANY"}, {"expr", "TILES > 4"}});
  const auto plan = plan_of(document, problem(500, 256, 2048));
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->kernels[0].grid, (Dim3{16, 1, 1}));
}

TEST(Plan, AnErrorInAValueNamesIt) {
  json document = sample_json();
  document["values"] = {{{"name", "SHARE"}, {"expr", "N / (M - 500)"}}};
  const auto plan = plan_of(document, problem(500, 256, 2048));
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(),
              ::testing::AllOf(HasSubstr("value 'SHARE'"), HasSubstr("\n  with BM=64,TM=4,COPY=cp_async")));
}

TEST(Plan, OfMapsWithOneNameTheFirstThatHoldsIsPassed) {
  json document = sample_json();
  json wide = document["tensor_maps"][0];
  wide["when"] = "BM == 128";
  wide["swizzle"] = "none";
  document["tensor_maps"].insert(document["tensor_maps"].begin(), wide);
  const auto narrow_plan = plan_of(document);
  ASSERT_TRUE(narrow_plan) << narrow_plan.error().text();
  EXPECT_EQ(narrow_plan->tensor_maps.at(0).swizzle, Swizzle::k64B);
  const auto wide_plan = plan_of(document, problem(), device(), "BM=128");
  ASSERT_TRUE(wide_plan) << wide_plan.error().text();
  EXPECT_EQ(wide_plan->tensor_maps.at(0).swizzle, Swizzle::kNone);
  EXPECT_EQ(wide_plan->tensor_maps.size(), 1U);
}

TEST(Plan, SwizzleAndPromotionMayBeExpressionsInBytes) {
  json document = sample_json();
  document["tensor_maps"][0]["swizzle"] = "BM == 128 ? 0 : 32 * 2";
  document["tensor_maps"][0]["l2_promotion"] = "BM * 2";
  const auto narrow_plan = plan_of(document, problem(), device(), "BM=64");
  ASSERT_TRUE(narrow_plan) << narrow_plan.error().text();
  EXPECT_EQ(narrow_plan->tensor_maps.at(0).swizzle, Swizzle::k64B);
  EXPECT_EQ(narrow_plan->tensor_maps.at(0).l2_promotion, L2Promotion::k128B);
  const auto wide_plan = plan_of(document, problem(), device(), "BM=128");
  ASSERT_TRUE(wide_plan) << wide_plan.error().text();
  EXPECT_EQ(wide_plan->tensor_maps.at(0).swizzle, Swizzle::kNone);
  EXPECT_EQ(wide_plan->tensor_maps.at(0).l2_promotion, L2Promotion::k256B);
}

TEST(Plan, ASwizzleThatTmaDoesNotOfferIsAnError) {
  json document = sample_json();
  document["tensor_maps"][0]["swizzle"] = "8 * 2";
  const auto plan = plan_of(document);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), HasSubstr("'8 * 2' is 16 bytes, which TMA does not offer"));
}

TEST(Plan, AMapOfWhichNoneHoldsIsAnError) {
  json document = sample_json();
  document["tensor_maps"][0]["when"] = "M == 1";
  const auto plan = plan_of(document);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), HasSubstr("tensor map 'map_a'"));
  EXPECT_THAT(plan.error().text(), HasSubstr("every \"when\" is zero"));
}

TEST(Plan, EvaluatesEverything) {
  Problem shape = problem(500, 256, 2048);
  shape.batch = 2;
  shape.alpha = 1.5;
  shape.beta = -2;
  const auto plan = plan_of(sample_json(), shape);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->workspace_bytes, 500 * 256 * 4);
  EXPECT_TRUE(plan->zero_workspace);
  EXPECT_EQ(plan->tensor_maps, (std::vector<TensorMapPlan>{{"map_a",
                                                            Operand::kA,
                                                            TensorType::kFloat32,
                                                            {2048, 500},
                                                            {8192},
                                                            {16, 64},
                                                            Swizzle::k64B,
                                                            L2Promotion::k128B}}));
  ASSERT_EQ(plan->kernels.size(), 2U);
  const KernelLaunch& kernel = plan->kernels[0];
  EXPECT_EQ(kernel.symbol, "sample_main");
  EXPECT_EQ(kernel.grid, (Dim3{4, 8, 2}));
  EXPECT_EQ(kernel.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(kernel.cluster, (Dim3{1, 1, 1}));
  EXPECT_EQ(kernel.dynamic_smem_bytes, 8192);
  EXPECT_EQ(kernel.l2_window, (L2Window{Operand::kB, L2Access::kPersisting, 0.5}));
  EXPECT_EQ(kernel.arguments, (std::vector<KernelArgument>{{ArgumentKind::kPointer, Operand::kA, 0, 0},
                                                           {ArgumentKind::kPointer, Operand::kWorkspace, 0, 0},
                                                           {ArgumentKind::kTensorMap, Operand::kA, 0, 0},
                                                           {ArgumentKind::kInt32, Operand::kA, 500, 0},
                                                           {ArgumentKind::kInt64, Operand::kA, 2048, 0},
                                                           {ArgumentKind::kFloat32, Operand::kA, 0, 1.5},
                                                           {ArgumentKind::kFloat32, Operand::kA, 0, -2}}));
  EXPECT_EQ(plan->kernels[1].grid, (Dim3{500, 1, 1}));
}

TEST(Plan, KernelsWhoseConditionIsZeroAreLeftOut) {
  EXPECT_EQ(plan_of(sample_json()).value().kernels.size(), 1U);
  json document = sample_json();
  document["kernels"][0]["when"] = "M > 100000";
  EXPECT_THAT(plan_of(document).error().text(), HasSubstr("no kernel is launched"));
}

TEST(Plan, ATensorMapCanFollowTheOperandsType) {
  json document = sample_json();
  document["dtypes"] = {"f32", "bf16", "e4m3"};
  document["tensor_maps"][0]["type"] = "operand";
  EXPECT_EQ(plan_of(document).value().tensor_maps.at(0).type, TensorType::kFloat32);
  Problem shape = problem();
  shape.dtype = Dtype::kBf16;
  const TensorMapPlan map = plan_of(document, shape).value().tensor_maps.at(0);
  EXPECT_EQ(map.type, TensorType::kBfloat16);
  EXPECT_EQ(map.strides_bytes.at(0), 2 * shape.lda);
  shape.dtype = Dtype::kE4m3;
  EXPECT_EQ(plan_of(document, shape).value().tensor_maps.at(0).type, TensorType::kUint8);
  EXPECT_EQ(plan_of(document, shape).value().tensor_maps.at(0).strides_bytes.at(0), shape.lda);
  document["tensor_maps"][0]["operand"] = "D";
  EXPECT_EQ(plan_of(document, shape).value().tensor_maps.at(0).type, TensorType::kBfloat16);
}

TEST(Plan, TensorMapsAreKeptOnlyWhereTheyArePassed) {
  json document = sample_json();
  json second = document["tensor_maps"][0];
  second["name"] = "map_b";
  second["box"] = {"16", "1000"};  // impossible, but only the second kernel asks for it
  document["tensor_maps"].push_back(second);
  document["kernels"][1]["arguments"] = json::parse(R"([{"tensor_map": "map_b"}, {"tensor_map": "map_a"}])");
  EXPECT_EQ(plan_of(document).value().tensor_maps.size(), 1U);
  document["tensor_maps"][1]["box"] = {"16", "8"};
  const auto both = plan_of(document, problem(512, 256, 2048));
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_EQ(both->tensor_maps.size(), 2U);
  EXPECT_EQ(both->kernels[1].arguments[0].integer, 1);
  EXPECT_EQ(both->kernels[1].arguments[1].integer, 0);
}

TEST(Plan, ErrorsNameFieldCaretAndVariant) {
  json document = sample_json();
  document["kernels"][0]["grid"][1] = "M / (BM - 64)";
  EXPECT_EQ(plan_of(document).error().text(),
            "template 'sample': kernel 'sample_main'.grid[1]: division by zero\n  M / (BM - 64)\n    ^\n"
            "  with BM=64,TM=4,COPY=cp_async");
  EXPECT_EQ(plan_of(document).error().kind, ErrorKind::kUsage);
}

/// An edit of the sample that breaks a limit.
struct Limit {
  const char* pointer;
  const char* value;
  const char* message;
};

class PlanLimit : public ::testing::TestWithParam<Limit> {};

TEST_P(PlanLimit, IsRefused) {
  json document = sample_json();
  document[json::json_pointer(GetParam().pointer)] = json::parse(GetParam().value);
  const auto plan = plan_of(document);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Launch, PlanLimit,
    ::testing::Values(Limit{"/kernels/0/block", R"(["1025"])", "block.x is 1025, but must be between 1 and 1024"},
                      Limit{"/kernels/0/block", R"(["1", "1", "65"])", "block.z is 65"},
                      Limit{"/kernels/0/block", R"(["64", "32"])", "block 64x32x1 has 2048 threads"},
                      Limit{"/kernels/0/block", R"(["0"])", "block.x is 0"},
                      Limit{"/kernels/0/grid", R"(["1 << 31"])", "grid.x is 2147483648"},
                      Limit{"/kernels/0/grid", R"(["1", "65536"])", "grid.y is 65536"},
                      Limit{"/kernels/0/grid", R"(["1", "1", "65536"])", "grid.z is 65536"},
                      Limit{"/kernels/0/grid", R"(["M - M"])", "grid.x is 0"},
                      Limit{"/kernels/0/cluster", R"(["16"])", "cluster.x is 16, but must be between 1 and 8"},
                      Limit{"/kernels/0/cluster", R"(["4", "4"])", "cluster has 16 CTAs"},
                      Limit{"/kernels/0/cluster", R"(["3"])", "grid 4x8x1 is not a multiple of cluster 3x1x1"},
                      Limit{"/kernels/0/cluster", R"(["1", "3"])", "grid 4x8x1 is not a multiple of cluster 1x3x1"},
                      Limit{"/kernels/0/cluster", R"(["1", "1", "2"])",
                            "grid 4x8x1 is not a multiple of cluster 1x1x2"},
                      Limit{"/kernels/0/dynamic_smem", "\"SMEM_LIMIT + 1\"", "dynamic_smem is 232449 bytes"},
                      Limit{"/kernels/0/dynamic_smem", "\"0 - 1\"", "dynamic_smem is -1 bytes"},
                      Limit{"/kernels/0/arguments/3", R"({"int32": "1 << 31"})", "does not fit in int32"},
                      Limit{"/kernels/0/arguments/3", R"({"int32": "0 - (1 << 31) - 1"})", "does not fit in int32"},
                      Limit{"/workspace/bytes", "\"0 - 1\"", "workspace.bytes: is -1"}));

INSTANTIATE_TEST_SUITE_P(
    TensorMaps, PlanLimit,
    ::testing::Values(Limit{"/tensor_maps/0/box/1", "\"257\"", "tensor map 'map_a': box[1] is 257"},
                      Limit{"/tensor_maps/0/box/1", "\"0\"", "box[1] is 0"},
                      Limit{"/tensor_maps/0/box/0", "\"6\"", "box[0] is 24 bytes, but TMA needs a multiple of 16"},
                      Limit{"/tensor_maps/0/box/0", "\"32\"", "box[0] is 128 bytes, but swizzle 64B takes at most 64"},
                      Limit{"/tensor_maps/0/strides/0", "\"LDA + 1\"", "strides[0] is 516 bytes"},
                      Limit{"/tensor_maps/0/strides/0", "\"0\"", "strides[0] is 0 bytes"},
                      Limit{"/tensor_maps/0/strides/0", "\"1 << 38\"", "strides[0] is 1099511627776 bytes"},
                      Limit{"/tensor_maps/0/strides/0", "\"1 << 62\"", "does not fit in 64 bits"},
                      Limit{"/tensor_maps/0/dims/0", "\"K - K\"", "dims[0] is 0"},
                      Limit{"/tensor_maps/0/dims/0", "\"(1 << 32) + 1\"", "dims[0] is 4294967297"}));

TEST(Plan, TheLargestLegalGeometryIsAccepted) {
  json document = sample_json();
  document["kernels"][0]["grid"] = {"2147483640", "65535", "65535"};
  document["kernels"][0]["block"] = {"1024"};
  document["kernels"][0]["cluster"] = {"8"};
  document["kernels"][0]["dynamic_smem"] = "SMEM_LIMIT";
  document["tensor_maps"][0]["swizzle"] = "none";
  document["tensor_maps"][0]["box"] = {"256", "256"};
  const auto plan = plan_of(document);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->kernels[0].cluster, (Dim3{8, 1, 1}));
  for (const char* number : {"0 - (1 << 31)", "(1 << 31) - 1"}) {
    document["kernels"][0]["arguments"][3] = {{"int32", number}};
    EXPECT_TRUE(plan_of(document)) << number;
  }
}

TEST(Plan, OnlyALaterKernelOverlapsTheOneBefore) {
  json document = sample_json();
  document["kernels"][0]["programmatic_dependent_launch"] = "1";
  document["kernels"][1]["programmatic_dependent_launch"] = "BM > 0";
  document["kernels"][1].erase("when");
  const LaunchPlan plan = plan_of(document).value();
  EXPECT_FALSE(plan.kernels[0].overlaps_previous);
  EXPECT_TRUE(plan.kernels[1].overlaps_previous);
  document["kernels"][1]["programmatic_dependent_launch"] = "BM < 0";
  EXPECT_FALSE(plan_of(document).value().kernels[1].overlaps_previous);
}

TEST(Plan, SaysWhichKernelsAreCoResident) {
  json document = sample_json();
  document["kernels"][0]["co_resident"] = "BM > 0";
  EXPECT_TRUE(plan_of(document).value().kernels[0].co_resident);
  document["kernels"][0]["co_resident"] = "BM < 0";
  EXPECT_FALSE(plan_of(document).value().kernels[0].co_resident);
  document["kernels"][0].erase("co_resident");
  EXPECT_FALSE(plan_of(document).value().kernels[0].co_resident);
}

TEST(Plan, TheFirstKernelOverlapsTheLaunchBeforeInAChainAlone) {
  json document = sample_json();
  document["kernels"][0]["overlaps_launch_before"] = "CHAINED && BM > 0";
  document["kernels"][1]["overlaps_launch_before"] = "1";
  document["kernels"][1].erase("when");
  Problem chained = problem();
  EXPECT_FALSE(plan_of(document, chained).value().kernels[0].overlaps_previous);
  chained.chained = true;
  const LaunchPlan plan = plan_of(document, chained).value();
  EXPECT_TRUE(plan.kernels[0].overlaps_previous);
  EXPECT_FALSE(plan.kernels[1].overlaps_previous) << "it is about the first kernel";
  document["kernels"][0]["overlaps_launch_before"] = "0";
  EXPECT_FALSE(plan_of(document, chained).value().kernels[0].overlaps_previous);
}

TEST(Plan, AKernelThatWaitsFirstSaysSoWhereverItStands) {
  json document = sample_json();
  document["kernels"][0]["waits_first"] = "BM > 0";
  document["kernels"][1]["waits_first"] = "BM < 0";
  document["kernels"][1].erase("when");
  const LaunchPlan plan = plan_of(document).value();
  EXPECT_TRUE(plan.kernels[0].waits_first);
  EXPECT_FALSE(plan.kernels[1].waits_first);
}

TEST(Plan, ClustersAndTensorMapsNeedSm90) {
  DeviceInfo ampere = device();
  ampere.architecture = "sm_80";
  ampere.compute_major = 8;
  EXPECT_THAT(plan_of(sample_json(), problem(), ampere).error().text(), HasSubstr("tensor maps need sm_90"));
  json document = sample_json();
  document["kernels"][0]["arguments"].erase(2);
  EXPECT_TRUE(plan_of(document, problem(), ampere));
  document["kernels"][0]["cluster"] = {"2"};
  EXPECT_THAT(plan_of(document, problem(), ampere).error().text(), HasSubstr("clusters need sm_90"));
  document["kernels"][0].erase("cluster");
  document["kernels"][1].erase("when");
  document["kernels"][1]["programmatic_dependent_launch"] = "1";
  EXPECT_THAT(plan_of(document, problem(), ampere).error().text(), HasSubstr("dependent launch needs sm_90"));
  document["kernels"][1].erase("programmatic_dependent_launch");
  document["kernels"][1]["waits_first"] = "1";
  EXPECT_THAT(plan_of(document, problem(), ampere).error().text(), HasSubstr("dependent launch needs sm_90"));
}

}  // namespace
}  // namespace pgtune::space
