// SPDX-License-Identifier: MIT
#include "tuner/model/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pgtune {
namespace {

using nlohmann::json;

/// Through text, as the worker protocol and the database do it.
template <typename Value>
Value round_trip(const Value& value) {
  return json::parse(json(value).dump()).template get<Value>();
}

Problem sample_problem() {
  Problem problem{.m = 127,
                  .n = 129,
                  .k = 131,
                  .batch = 3,
                  .trans_b = true,
                  .lda = 132,
                  .ldb = 136,
                  .ldc = 200,
                  .alpha = 0.1,
                  .beta = -2.5};
  return with_default_strides(problem).value();
}

LaunchPlan sample_plan() {
  LaunchPlan plan;
  plan.workspace_bytes = 1024;
  plan.zero_workspace = true;
  plan.tensor_maps.push_back({.name = "map_a",
                              .operand = Operand::kB,
                              .type = TensorType::kTfloat32,
                              .dims = {64, 128},
                              .strides_bytes = {256},
                              .box = {32, 64},
                              .swizzle = Swizzle::k128B,
                              .l2_promotion = L2Promotion::k256B});
  KernelLaunch launch{.symbol = "gemm",
                      .grid = {3, 2, 1},
                      .block = {256, 1, 1},
                      .cluster = {2, 1, 1},
                      .dynamic_smem_bytes = 65536,
                      .arguments = {},
                      .l2_window = L2Window{Operand::kB, L2Access::kPersisting, 0.5}};
  launch.arguments = {{.kind = ArgumentKind::kPointer, .operand = Operand::kWorkspace},
                      {.kind = ArgumentKind::kTensorMap, .integer = 0},
                      {.kind = ArgumentKind::kInt32, .integer = -7},
                      {.kind = ArgumentKind::kInt64, .integer = 1LL << 40},
                      {.kind = ArgumentKind::kFloat32, .real = 0.1}};
  plan.kernels = {launch, KernelLaunch{.symbol = "reduce",
                                       .grid = {},
                                       .block = {},
                                       .cluster = {},
                                       .overlaps_previous = true,
                                       .waits_first = true,
                                       .arguments = {},
                                       .l2_window = {}}};
  return plan;
}

TEST(Json, NamesOfAVariantAreNames) {
  const auto read = [](const char* text) { return json::parse(text).get<Variant>(); };
  EXPECT_EQ(read(R"({"template": "", "parameters": []})"), Variant{});
  EXPECT_NO_THROW(read(R"({"template": "t_1", "parameters": [["BM", 1], ["COPY", "16B"]]})"));
  for (const char* text :
       {R"({"template": "t {}; int x", "parameters": []})", R"({"template": "../t", "parameters": []})",
        R"({"template": "t", "parameters": [["A; int b", 1]]})", R"({"template": "t", "parameters": [["", 1]]})",
        R"({"template": "t", "parameters": [["1A", 1]]})", R"({"template": "t", "parameters": [["A", "x y"]]})",
        R"({"template": "t", "parameters": [["A", "\u001b[2J"]]})"}) {
    EXPECT_THROW(read(text), json::exception) << text;
  }
}

TEST(ModelJson, ValuesSurviveARoundTrip) {
  EXPECT_EQ(round_trip(sample_problem()), sample_problem());
  // What was stored before there were output types reads and writes as it did.
  EXPECT_FALSE(json(sample_problem()).contains("out"));
  Problem chained = sample_problem();
  chained.chained = true;
  EXPECT_EQ(json(chained).at("chained"), true);
  EXPECT_EQ(json(chained).get<Problem>(), chained);
  EXPECT_FALSE(json(sample_problem()).contains("chained"));
  Problem wide = sample_problem();
  wide.dtype = Dtype::kF16;
  wide.output = ElementType::kFloat32;
  EXPECT_EQ(round_trip(wide), wide);
  json impossible = wide;
  impossible["out"] = "bf16";
  EXPECT_THROW(static_cast<void>(impossible.get<Problem>()), json::exception);
  EXPECT_EQ(round_trip(sample_plan()), sample_plan());
  const Variant variant{"sgemm_simt", {{"BM", std::int64_t{128}}, {"COPY", std::string("cp_async")}}};
  EXPECT_EQ(round_trip(variant), variant);
  EXPECT_EQ(variant.key(), "BM=128,COPY=cp_async");
  EXPECT_EQ(parameters_to_json(variant).dump(), R"({"BM":128,"COPY":"cp_async"})");
}

TEST(ModelJson, ReportsSurviveARoundTrip) {
  const TrialReport trial{.outcome = {OutcomeKind::kWrongResult, "element (1,2)"},
                          .cut = true,
                          .check = CheckReport{3.5, 1e-3},
                          .samples = {{.stage = Stage::kFinal,
                                       .round = 2,
                                       .position = 1,
                                       .launches = 40,
                                       .time_s = 0.0123,
                                       .sm_clock_hz = 1.98e9}}};
  EXPECT_EQ(round_trip(trial), trial);
  EXPECT_EQ(round_trip(TrialReport{}), TrialReport{});
  BaselineReport baseline{
      .library = "cuBLASLt 13.0",
      .algorithms =
          {{.rank = 2, .description = "tile 128x128", .workspace_bytes = 9, .time_s = 1e-3, .max_error = 0.25}},
      .first = 0,
      .best = 0,
      .buffer_copies = 4,
      .data_seed = 1ULL << 63};
  EXPECT_EQ(round_trip(baseline), baseline);
  for (const char* unusual : {"in_graphs", "enlarged_shape", "copied", "place", "others"})
    EXPECT_FALSE(nlohmann::json(baseline).contains(unusual)) << unusual;
  baseline.in_graphs = true;
  baseline.enlarged_shape = "1008x1008x1008";
  baseline.copied = "A, B, D";
  baseline.place = 1;
  baseline.others = {{"other", "", 0, "no such library"}, {"copy", "64 bytes a thread", 2e-3}};
  EXPECT_EQ(round_trip(baseline), baseline);
}

EnergyWindow sample_window() {
  return {.window_s = 5.1,
          .energy_j = 3000.123,
          .steps = 51,
          .step_s = 0.1001,
          .uncertainty = 0.004,
          .averaged_power_w = 590,
          .launches = 4000,
          .per_launch_s = 1.25e-3,
          .sm_clock_hz = 1.5e9,
          .power_cap_share = 0.98,
          .thermal_share = 0.0,
          .temperature_start_c = 60,
          .temperature_end_c = 62};
}

TEST(ModelJson, SamplesCarryWhatTheGpuSaidOfThem) {
  Sample sample{
      .stage = Stage::kFloor, .round = 3, .position = 1, .launches = 12, .time_s = 0.02, .sm_clock_hz = 1.5e9};
  sample.graph = true;
  sample.temperature_c = 61;
  sample.power_cap_s = 0.019;
  sample.thermal_s = 0;
  EXPECT_EQ(round_trip(sample), sample);
  EXPECT_EQ(json(sample).at("stage"), "floor");
  sample.stage = Stage::kRace;
  EXPECT_EQ(round_trip(sample), sample);
}

TEST(ModelJson, FactsNobodyKnowsAreLeftOut) {
  const json sample = Sample{};
  for (const char* field : {"temperature_c", "power_cap_s", "thermal_s"}) EXPECT_FALSE(sample.contains(field)) << field;
  Sample before;
  before.temperature_c = 50;  // what was there must not shine through
  sample.get_to(before);
  EXPECT_EQ(before, Sample{});
  json null = sample;
  null["thermal_s"] = nullptr;
  EXPECT_FALSE(null.get<Sample>().thermal_s);
  EnergyWindow window = sample_window();
  window.power_cap_share.reset();
  EXPECT_FALSE(json(window).contains("power_cap_share"));
  EXPECT_EQ(round_trip(window), window);
}

TEST(ModelJson, ConditionsEnergyAndCeilingsSurviveARoundTrip) {
  const Conditions conditions{Regime::kBurst, L2State::kWarm, DataDistribution::kIntegers, 1ULL << 63, 1.5e9};
  EXPECT_EQ(round_trip(conditions), conditions);
  EXPECT_EQ(json(conditions).at("data"), "integers");
  EXPECT_EQ(round_trip(sample_window()), sample_window());
  const Ceilings ceilings{4.1e12, 6.5e12, 30e12, {{"f32", 60e12}, {"bf16", 800e12}}, 1.9e9};
  EXPECT_EQ(round_trip(ceilings), ceilings);
}

TEST(ModelJson, WordsNobodyKnowsAreErrors) {
  json conditions = Conditions{};
  conditions["regime"] = "steady";
  EXPECT_THROW((void)conditions.get<Conditions>(), json::exception);
  json sample = Sample{};
  sample["stage"] = "semifinal";
  EXPECT_THROW((void)sample.get<Sample>(), json::exception);
  json window = sample_window();
  window.erase("energy_j");
  EXPECT_THROW((void)window.get<EnergyWindow>(), json::exception);
}

TEST(ModelJson, MalformedMessagesThrowJsonErrorsOnly) {
  json problem = sample_problem();
  problem["layout"] = "xx";
  EXPECT_THROW((void)problem.get<Problem>(), json::exception);
  problem = sample_problem();
  problem["m"] = -1;
  EXPECT_THROW((void)problem.get<Problem>(), json::exception);
  json plan = sample_plan();
  plan["kernels"][0]["arguments"][0]["operand"] = "Z";
  EXPECT_THROW((void)plan.get<LaunchPlan>(), json::exception);
  EXPECT_THROW((void)json::parse(R"({"kind":"fine","reason":""})").get<Outcome>(), json::exception);
}

}  // namespace
}  // namespace pgtune
