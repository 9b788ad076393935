// SPDX-License-Identifier: MIT
// Every operation on the GPU, shipped and of the examples: its null test passes, and representative variants of its
// templates are right in all places and for all its cases. Nothing is timed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/operation_cases.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/verification.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxVariants = 12;

/// Two of each: more than one tile in every direction, and ragged; of block-scaled ones more tiles than
/// multiprocessors, which TMA stores; and of products rows of D that wgmma's templates refuse, for those that are not
/// tried elsewhere on Hopper.
const std::map<std::string, std::vector<const char*>>& sizes_of_operations() {
  static const std::map<std::string, std::vector<const char*>> kSizes{
      {"add_rmsnorm", {"M=1000,N=4096", "M=5,N=104"}},
      {"gemm_block_scaled", {"M=512,N=1024,K=1024", "M=19,N=136,K=144", "M=300,N=388,K=272", "M=2100,N=2056,K=272"}},
      {"gemm_grouped", {"G=6,M=1500,N=512,K=512", "G=5,M=83,N=72,K=40", "G=3,M=400,N=388,K=272"}},
      {"gemm_grouped_block_scaled",
       {"G=6,M=1500,N=512,K=512", "G=3,M=37,N=136,K=144", "G=3,M=400,N=388,K=272", "G=3,M=2200,N=2056,K=272"}},
      {"gemm_pointers", {"G=40,M=100,N=256,K=200,W=7", "G=3,M=5,N=72,K=24,W=2"}},
      {"gemm_masked",
       {"G=6,R=300,E=90,N=512,K=512", "G=40,R=21,E=9,N=72,K=136", "G=3,R=150,E=90,N=388,K=272",
        "G=20,R=300,E=190,N=1032,K=272"}},
      {"gemm_masked_block_scaled",
       {"G=6,R=300,E=90,N=512,K=512", "G=3,R=21,E=9,N=72,K=144", "G=3,R=150,E=90,N=388,K=272",
        "G=20,R=300,E=190,N=1032,K=272"}},
      {"lower_solve", {"S=40,N=48,R=200", "S=3,N=13,R=5"}},
      {"pack_rows", {"G=30,R=50,N=1024", "G=7,R=9,N=72"}},
      {"reduction", {"N=1000003"}},
      {"rmsnorm", {"M=1000,N=4096", "M=5,N=104"}},
      {"silu_mul", {"M=1000,N=2048", "M=5,N=72"}},
      {"softmax", {"M=1000,N=4096", "M=5,N=96"}},
      {"stencil2d", {"H=1000,W=2048", "H=19,W=70"}},
      {"transpose", {"M=1000,N=2048", "M=36,N=72"}},
  };
  return kSizes;
}

class OperationsOnDevice : public testing::TestWithParam<fs::path>, protected LaunchingGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    auto definition = operation::load_operation(GetParam());
    ASSERT_TRUE(definition) << definition.error().text();
    operation_ = std::move(*definition);
  }

  void expect_right(const Problem& problem) {
    auto own = OperationKernels::create(driver_, *kernels_, problem.operation, info_.architecture);
    ASSERT_TRUE(own) << own.error().text();
    auto buffers = OperandBuffers::allocate(*kernels_, **own, {DataDistribution::kUniform, 7}, 2, stream_.get());
    ASSERT_TRUE(buffers) << buffers.error().text;
    const auto checker = Checker::create(*kernels_, *buffers, **own, stream_.get());
    ASSERT_TRUE(checker) << checker.error().text;
    ASSERT_TRUE(buffers->add_guarded_places(driver_));
    const auto tested = null_test(*buffers, **checker, stream_.get());
    ASSERT_TRUE(tested) << tested.error().text();
    for (const auto& definition : templates_of(GetParam(), operation_)) {
      ASSERT_TRUE(definition) << definition.error().text();
      SCOPED_TRACE(definition->name);
      launch_variants(*definition, problem, *buffers, **checker);
      if (HasFatalFailure()) return;
    }
  }

  [[nodiscard]] const operation::OperationDefinition& operation() const { return operation_; }
  [[nodiscard]] int launched() const { return launched_; }

 private:
  void launch_variants(const space::TemplateDefinition& definition, const Problem& problem, OperandBuffers& buffers,
                       Checker& checker) {
    const auto legal = space::legal_variants(definition, problem, info_);
    ASSERT_TRUE(legal) << legal.error().text();
    if (legal->variants.empty()) return;
    const std::vector<Variant> variants = extreme_variants(definition, legal->variants, kMaxVariants);
    const std::vector<Result<Built>> built = build(definition, variants, problem);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      SCOPED_TRACE(variants[i].key());
      ASSERT_TRUE(built[i]) << built[i].error().text();
      launch(*built[i], buffers, checker);
      if (HasFatalFailure()) return;
    }
  }

  void launch(const Built& built, OperandBuffers& buffers, Checker& checker) {
    const auto loaded = load(built, buffers.places(), buffers.guarded_places());
    ASSERT_TRUE(loaded) << loaded.error().text;
    const auto verdict = checker.check(**loaded);
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->fault, "");
    LaunchSeries series(**loaded, buffers.rotation(), stream_.get());
    protocol::VerifyRequest request;
    request.built.build = built.build;
    request.built.plan = built.plan;
    request.launches = 4;
    request.data_seed = 11;
    const auto launches = SeriesToVerify::create(buffers, checker, series, request.launch_limit_s);
    ASSERT_TRUE(launches) << launches.error().text;
    const auto verified = Verification(**launches, request).run();
    ASSERT_TRUE(verified) << verified.error().text;
    EXPECT_EQ(verified->outcome.kind, OutcomeKind::kOk) << verified->outcome.reason;
    // Each copy's groups have other numbers of rows; the memory after them is no result.
    if (operation_.name.starts_with("gemm_masked")) {
      EXPECT_TRUE(verified->deterministic);
    }
    ++launched_;
  }

  operation::OperationDefinition operation_;
  int launched_ = 0;
};

TEST_P(OperationsOnDevice, PassTheirNullTestAndTheirTemplatesAreRight) {
  std::vector<std::optional<Dtype>> dtypes{operation().dtypes.begin(), operation().dtypes.end()};
  if (dtypes.empty()) dtypes.push_back(std::nullopt);
  const auto sizes = sizes_of_operations().find(operation().name);
  ASSERT_NE(sizes, sizes_of_operations().end()) << "no sizes are listed for " << operation().name;
  for (const auto& dtype : dtypes) {
    for (const char* text : sizes->second) {
      const auto problem = operation::make_problem(operation(), operation::parse_sizes(text).value(), dtype);
      ASSERT_TRUE(problem) << problem.error().text();
      SCOPED_TRACE(problem->title());
      expect_right(*problem);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(launched(), 0);
  fmt::print("launched {} variants of {}\n", launched(), operation().name);
}

class DataCounts : public testing::Test, protected LaunchingGpu {
 protected:
  static constexpr std::int64_t kGroups = 30, kCopies = 3;

  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    const auto definition = operation::load_operation(fs::path(PGTUNE_SOURCE_DIR) / kPath);
    ASSERT_TRUE(definition) << definition.error().text();
    problem_ = operation::make_problem(*definition, {{"G", kGroups}, {"R", 50}, {"N", 64}}, std::nullopt).value();
  }

  /// The only count, and the sums of "rows" in each copy as they were fetched here.
  void count(double& counted, std::vector<std::int64_t>& sums) {
    auto own = OperationKernels::create(driver_, *kernels_, problem_.operation, info_.architecture);
    ASSERT_TRUE(own) << own.error().text();
    const auto buffers =
        OperandBuffers::allocate(*kernels_, **own, {DataDistribution::kUniform, 7}, kCopies, stream_.get());
    ASSERT_TRUE(buffers) << buffers.error().text;
    const auto counts = buffers->counts(stream_.get());
    ASSERT_TRUE(counts) << counts.error().text;
    ASSERT_EQ(counts->size(), 1);
    EXPECT_EQ(counts->front().name, "ROWS");
    counted = counts->front().value;
    for (const OperandSet& copy : buffers->copies()) {
      std::vector<std::int32_t> rows(kGroups);
      ASSERT_EQ(cudaMemcpy(rows.data(), device_pointer(copy.buffers.at(0).address), rows.size() * sizeof(std::int32_t),
                           cudaMemcpyDeviceToHost),
                cudaSuccess);
      sums.push_back(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}));
    }
  }

  static constexpr const char* kPath = "examples/operations/pack_rows/pack_rows.json";
  Problem problem_;
};

TEST_F(DataCounts, AreTheMeanOverAllCopies) {
  double counted = 0;
  std::vector<std::int64_t> sums;
  count(counted, sums);
  if (HasFatalFailure()) return;
  EXPECT_DOUBLE_EQ(counted, static_cast<double>(std::accumulate(sums.begin(), sums.end(), std::int64_t{0})) / kCopies);
  EXPECT_FALSE(sums[0] == sums[1] && sums[1] == sums[2]) << "copies have data of their own";
}

TEST_F(DataCounts, AreOfTheDataThatThereIs) {
  OperationProblem operation = *problem_.operation;
  operation.buffers.at(0).fill = FillKind::kConstant;
  operation.buffers.at(0).first = 4;
  problem_.operation = OperationHandle(std::move(operation));
  double counted = 0;
  std::vector<std::int64_t> sums;
  count(counted, sums);
  if (HasFatalFailure()) return;
  EXPECT_EQ(counted, 4 * kGroups);
}

INSTANTIATE_TEST_SUITE_P(All, OperationsOnDevice, testing::ValuesIn(operation_files()),
                         [](const auto& instance) { return instance.param.stem().string(); });

}  // namespace
}  // namespace pgtune::gpu
