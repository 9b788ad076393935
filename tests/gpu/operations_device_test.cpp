// SPDX-License-Identifier: MIT
// Every operation on the GPU, shipped and of the examples: its null test passes, and representative variants of its
// templates are right in all places and for all its cases. Nothing is timed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/operation_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/null_test.hpp"
#include "tuner/gpu/measure/check/verification.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxVariants = 12;

/// Two of each: more than one tile in every direction, and ragged.
const std::map<std::string, std::vector<const char*>>& sizes_of_operations() {
  static const std::map<std::string, std::vector<const char*>> kSizes{
      {"gemm_block_scaled", {"M=512,N=1024,K=1024", "M=19,N=136,K=144"}},
      {"gemm_grouped", {"G=6,M=1500,N=512,K=512", "G=5,M=83,N=72,K=40"}},
      {"gemm_grouped_block_scaled", {"G=6,M=1500,N=512,K=512", "G=3,M=37,N=136,K=144"}},
      {"gemm_masked_block_scaled", {"G=6,R=300,E=90,N=512,K=512", "G=3,R=21,E=9,N=72,K=144"}},
      {"reduction", {"N=1000003"}},
      {"rmsnorm", {"M=1000,N=4096", "M=5,N=104"}},
      {"softmax", {"M=1000,N=4096", "M=5,N=96"}},
      {"stencil2d", {"H=1000,W=2048", "H=19,W=70"}},
      {"transpose", {"M=1000,N=2048", "M=36,N=72"}},
  };
  return kSizes;
}

class OperationsOnDevice : public testing::TestWithParam<fs::path> {
 protected:
  void SetUp() override {
    const auto ordinal = find_gpu("0");
    if (!ordinal) GTEST_SKIP() << "needs a GPU: " << ordinal.error().text();
    ASSERT_EQ(cudaSetDevice(*ordinal), cudaSuccess);
    ASSERT_EQ(cudaDeviceGetAttribute(&max_window_bytes_, cudaDevAttrMaxAccessPolicyWindowSize, *ordinal), cudaSuccess);
    info_ = describe_gpu(*ordinal).value();
    driver_ = Driver::load().value();
    stream_ = create_stream().value();
    kernels_ = HelperKernels::load(driver_, info_.architecture, info_.sm_count).value();
    auto definition = operation::load_operation(GetParam());
    ASSERT_TRUE(definition) << definition.error().text();
    operation_ = std::move(*definition);
  }

  void expect_right(const Problem& problem) {
    auto own = OperationKernels::create(driver_, *kernels_, problem.operation, info_.architecture);
    ASSERT_TRUE(own) << own.error().text();
    auto buffers =
        OperandBuffers::allocate(*kernels_, problem, {DataDistribution::kUniform, 7}, 2, stream_.get(), own->get());
    ASSERT_TRUE(buffers) << buffers.error().text;
    const auto checker = Checker::create(*kernels_, *buffers, problem, stream_.get());
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
    std::vector<std::future<Result<protocol::BuildDone>>> building;
    for (const Variant& variant : variants) {
      building.push_back(std::async(std::launch::async, [&]() -> Result<protocol::BuildDone> {
        auto defines = space::make_defines(definition, variant, problem, info_);
        if (!defines) return tl::unexpected(defines.error());
        return builder_.build({1, variant, definition.source, *defines, info_.architecture});
      }));
    }
    for (std::size_t i = 0; i < variants.size(); ++i) {
      SCOPED_TRACE(variants[i].key());
      const auto done = building[i].get();
      ASSERT_TRUE(done) << done.error().text();
      ASSERT_EQ(done->outcome.kind, OutcomeKind::kOk) << done->outcome.reason;
      const auto plan = space::make_launch_plan(definition, variants[i], problem, info_);
      ASSERT_TRUE(plan) << plan.error().text();
      launch(done->build, *plan, buffers, checker);
      if (HasFatalFailure()) return;
    }
  }

  void launch(const BuildInfo& build, const LaunchPlan& plan, OperandBuffers& buffers, Checker& checker) {
    const auto loaded = LoadedVariant::load(driver_, *kernels_, build, plan, buffers.places(), max_window_bytes_,
                                            stream_.get(), buffers.guarded_places());
    ASSERT_TRUE(loaded) << loaded.error().text;
    const auto verdict = checker.check(**loaded);
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->fault, "");
    LaunchSeries series(**loaded, buffers.copies().size(), stream_.get());
    protocol::VerifyRequest request;
    request.built.build = build;
    request.built.plan = plan;
    request.launches = 4;
    request.data_seed = 11;
    const auto verified = Verification(buffers, checker, series, request).run();
    ASSERT_TRUE(verified) << verified.error().text;
    EXPECT_EQ(verified->outcome.kind, OutcomeKind::kOk) << verified->outcome.reason;
    ++launched_;
  }

  const TestFolder folder_;
  const Builder builder_{CubinCache::open(folder_.path()).value(), find_toolkit().value()};
  DeviceInfo info_;
  Driver driver_;
  Stream stream_;
  std::unique_ptr<HelperKernels> kernels_;
  operation::OperationDefinition operation_;
  int max_window_bytes_ = 0, launched_ = 0;
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

INSTANTIATE_TEST_SUITE_P(All, OperationsOnDevice, testing::ValuesIn(operation_files()),
                         [](const auto& instance) { return instance.param.stem().string(); });

}  // namespace
}  // namespace pgtune::gpu
