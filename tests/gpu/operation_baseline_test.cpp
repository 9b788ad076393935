// SPDX-License-Identifier: MIT
// The baselines of operations on a GPU: right against the reference, timed, and with a reason where there is none.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iostream>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tests/gpu/operation_cases.hpp"
#include "tuner/gpu/baseline/operation_baselines.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class OperationBaselineOnDevice : public MeasureOnDevice {
 protected:
  [[nodiscard]] static Problem problem(const std::string& name, const std::string& sizes) {
    const auto definition =
        operation::load_operation(std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations" / (name + ".json"));
    return operation::make_problem(definition.value(), operation::parse_sizes(sizes).value(), std::nullopt).value();
  }

  void expect_compared(const std::string& name, const std::string& sizes, const std::string& enlarged_shape = "") {
    if (measurer_->info().arch_number() != 90) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
    const Problem p = problem(name, sizes);
    const BaselineReport report = prepare(p);
    for (const OtherBaseline& other : report.others)
      std::cout << p.title() << ": beside it " << other.library << " " << other.algorithm << other.unavailable << " "
                << other.time_s * 1e6 << " us\n";
    ASSERT_THAT(report.library, StartsWith("cuBLASLt")) << p.title();
    EXPECT_EQ(report.place, 0);
    EXPECT_EQ(report.enlarged_shape, enlarged_shape) << p.title();
    for (const AlgorithmReport& algorithm : report.algorithms) {
      EXPECT_GT(algorithm.time_s, 0);
      EXPECT_LE(algorithm.max_error, 1) << algorithm.description;
      std::cout << p.title() << ": " << algorithm.description << " " << algorithm.time_s * 1e6 << " us, error "
                << algorithm.max_error << "\n";
    }
    const bool groups = has_groups_of_cublaslt(p.operation->baselines);
    ASSERT_EQ(report.others.size(), p.operation->baselines.size() + (groups ? 1 : 0));
    EXPECT_EQ(report.others.back().library, kCopyBaseline);
    for (const OtherBaseline& other : report.others) {
      if (groups && &other == &report.others.end()[-2]) {
        EXPECT_THAT(other.library, StartsWith("a grouped layout of cuBLASLt"));
        EXPECT_THAT(other.unavailable, HasSubstr("cublasLtGroupedMatrixLayoutCreate"));
        continue;
      }
      EXPECT_EQ(other.unavailable, "") << other.library;
      EXPECT_GT(other.time_s, 0) << other.library;
    }
    // A worker that replaces a dead one times the same algorithms.
    const std::vector<std::string> opaque = measurer_->opaque_algorithms();
    EXPECT_EQ(opaque.size(), report.algorithms.size());
    const auto again = measurer_->prepare({p, {}, protocol::KnownBaseline{report, opaque}});
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, report);
    EXPECT_EQ(measurer_->opaque_algorithms(), opaque);
  }
};

TEST_F(OperationBaselineOnDevice, BlockScaledProducts) {
  expect_compared("gemm_block_scaled", "M=512,N=1024,K=1536");
  expect_compared("gemm_block_scaled", "M=64,N=576,K=7168");
  expect_compared("gemm_block_scaled", "M=13,N=576,K=2880", "16x576x2880");
}

TEST_F(OperationBaselineOnDevice, ProductsOfGroups) {
  expect_compared("gemm_grouped", "G=8,M=2048,N=1024,K=512");
  expect_compared("gemm_grouped", "G=32,M=100,N=256,K=1024");
  expect_compared("gemm_masked", "G=6,R=128,E=90,N=512,K=1024");
}

TEST_F(OperationBaselineOnDevice, GroupedProductsInOneCall) {
  // Alone, so that what the others have does not stand in for it.
  const struct {
    const char *operation, *sizes;
    Dtype dtype;
  } products[] = {{"gemm_grouped", "G=8,M=1000,N=256,K=512", Dtype::kBf16},
                  {"gemm_grouped", "G=8,M=1000,N=256,K=512", Dtype::kF16},
                  {"gemm_masked", "G=8,R=160,E=125,N=256,K=512", Dtype::kBf16}};
  for (const auto& [name, sizes, dtype] : products) {
    SCOPED_TRACE(name);
    const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations" / (std::string(name) + ".json");
    const auto definition = operation::load_operation(path).value();
    const auto made = operation::make_problem(definition, operation::parse_sizes(sizes).value(), dtype);
    ASSERT_TRUE(made) << made.error().text();
    OperationProblem operation = *made->operation;
    operation.baselines.erase(operation.baselines.begin());
    ASSERT_EQ(std::get<LibraryProduct>(operation.baselines.at(0)).library, BaselineLibrary::kCublas);
    const Problem alone = problem_of(operation, dtype).value();
    const BaselineReport report = prepare(alone);
    ASSERT_THAT(report.library, StartsWith("cuBLAS ")) << (report.others.empty() ? "" : report.others[0].unavailable);
    ASSERT_EQ(report.algorithms.size(), 1U);
    EXPECT_GT(report.algorithms[0].time_s, 0);
    EXPECT_LE(report.algorithms[0].max_error, 1);
    const auto again = measurer_->prepare({alone, {}, protocol::KnownBaseline{report, measurer_->opaque_algorithms()}});
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, report);
  }
}

TEST_F(OperationBaselineOnDevice, ABatchOfEqualProducts) {
  // The example whose products have a matrix of B each: stored as K x columns, it is columns x K in other strides.
  const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "examples/operations/gemm_pointers/gemm_pointers.json";
  const auto made = operation::make_problem(operation::load_operation(path).value(),
                                            {{"G", 6}, {"M", 100}, {"N", 264}, {"K", 136}, {"W", 6}}, Dtype::kBf16);
  ASSERT_TRUE(made) << made.error().text();
  OperationProblem operation = *made->operation;
  ASSERT_EQ(operation.buffers.at(1).name, "B");
  operation.buffers[1].extents = {6, 264, 136};
  operation.buffers[1].strides = {136 * 264, 1, 264};
  operation.baselines = {LibraryProduct{.a = 0, .b = 1, .d = 2}};
  const auto batch = problem_of(operation, Dtype::kBf16);
  ASSERT_TRUE(batch) << batch.error().text();
  const BaselineReport report = prepare(*batch);
  ASSERT_THAT(report.library, StartsWith("cuBLASLt")) << (report.others.empty() ? "" : report.others[0].unavailable);
  EXPECT_EQ(report.place, 0);
  for (const AlgorithmReport& algorithm : report.algorithms) {
    EXPECT_GT(algorithm.time_s, 0);
    EXPECT_LE(algorithm.max_error, 1) << algorithm.description;
  }
  const auto again = measurer_->prepare({*batch, {}, protocol::KnownBaseline{report, measurer_->opaque_algorithms()}});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, report);
}

TEST_F(OperationBaselineOnDevice, BlockScaledProductsOfGroups) {
  expect_compared("gemm_grouped_block_scaled", "G=4,M=1000,N=1024,K=512", "groups of a multiple of four rows");
  expect_compared("gemm_masked_block_scaled", "G=6,R=128,E=20,N=512,K=2048", "groups of a multiple of four rows");
}

TEST_F(OperationBaselineOnDevice, WhereThereIsNoneTheCopyIsLeftAndTheReasonIsSaid) {
  const Problem p = problem("gemm_block_scaled", "M=64,N=130,K=250");
  const BaselineReport report = prepare(p);
  EXPECT_EQ(report.library, kCopyBaseline);
  EXPECT_EQ(report.place, 1);
  ASSERT_EQ(report.others.size(), 1);
  EXPECT_THAT(report.others[0].library, StartsWith("cuBLASLt"));
  EXPECT_THAT(report.others[0].unavailable, HasSubstr("no algorithm"));
  EXPECT_TRUE(report.others[0].algorithm.empty());
  const auto again = measurer_->prepare({p, {}, protocol::KnownBaseline{report, measurer_->opaque_algorithms()}});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, report);
}

/// The stencil of the examples, compared with its plain template.
class TemplateBaselineOnDevice : public OperationBaselineOnDevice {
 protected:
  static constexpr const char* kTitle = "stencil2d_plain 01234567";

  /// `changed`: makes the source that is built of the template's.
  [[nodiscard]] protocol::PrepareRequest request(const std::function<std::string(std::string)>& changed = {}) {
    const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "examples/operations/stencil2d/stencil2d.json";
    const auto operation = operation::load_operation(path).value();
    const Problem stencil = operation::make_problem(operation, {{"H", 1000}, {"W", 2048}}, std::nullopt).value();
    const space::TemplateDefinition plain = templates_of(path, operation).back().value();
    const Variant variant = plain.default_variant();
    protocol::BuiltVariant built{
        variant, space::make_launch_plan(plain, variant, stencil, measurer_->info()).value(), {}};
    std::string source = plain.source->contents;
    if (changed) source = changed(source);
    built.build = build_source(folder_, source, measurer_->info().architecture,
                               space::make_defines(plain, variant, stencil, measurer_->info()).value());
    return {stencil, {}, {}, {{kTitle, built, {}}}};
  }
  [[nodiscard]] static std::string replaced(std::string source, const std::string& what, const std::string& with) {
    const std::size_t at = source.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return source.replace(at, what.size(), with);
  }
};

TEST_F(TemplateBaselineOnDevice, IsCheckedTimedAndTakenOver) {
  protocol::PrepareRequest wanted = request();
  const auto report = measurer_->prepare(wanted);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->library, kTitle);
  EXPECT_EQ(report->place, 0);
  ASSERT_EQ(report->algorithms.size(), 1);
  EXPECT_EQ(report->algorithms[0].description, "WIDTH=32,HEIGHT=8");
  EXPECT_GT(report->algorithms[0].time_s, 0);
  EXPECT_LE(report->algorithms[0].max_error, 1);
  ASSERT_EQ(report->others.size(), 1);
  EXPECT_EQ(report->others[0].library, kCopyBaseline);
  wanted.known = protocol::KnownBaseline{*report, measurer_->opaque_algorithms()};
  const auto again = measurer_->prepare(wanted);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *report);
}

TEST_F(TemplateBaselineOnDevice, OneThatIsWrongOrWasNotBuiltSaysSo) {
  const auto wrong = measurer_->prepare(
      request([](const std::string& source) { return replaced(source, "at(i, j - 1)", "at(i, j - 2)"); }));
  ASSERT_TRUE(wrong) << wrong.error().text();
  EXPECT_EQ(wrong->library, kCopyBaseline);
  EXPECT_EQ(wrong->others.at(0).library, kTitle);
  EXPECT_NE(wrong->others.at(0).unavailable, "");
  protocol::PrepareRequest missing = request();
  missing.builds = {{kTitle, {}, "it spills"}};
  EXPECT_EQ(measurer_->prepare(missing)->others.at(0).unavailable, "it spills");
  missing.builds.clear();
  EXPECT_EQ(measurer_->prepare(missing)->others.at(0).unavailable, "it was not built");
}

}  // namespace
}  // namespace pgtune::gpu
