// SPDX-License-Identifier: MIT
// Every operation's reference and every operation's templates through NVRTC. Needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gpu/operation_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMaxExtremes = 10;

std::vector<std::optional<Dtype>> dtypes_of(const operation::OperationDefinition& definition) {
  if (definition.dtypes.empty()) return {std::nullopt};
  return {definition.dtypes.begin(), definition.dtypes.end()};
}

TEST(Operations, ReferencesCompileInEveryDtype) {
  for (const auto& path : operation_files()) {
    const auto definition = operation::load_operation(path);
    ASSERT_TRUE(definition) << definition.error().text();
    for (const auto& dtype : dtypes_of(*definition)) {
      const auto problem = operation::make_problem(*definition, usual_sizes(*definition), dtype);
      ASSERT_TRUE(problem) << problem.error().text();
      const auto cubin = OperationKernels::compile(*problem->operation, "sm_90a");
      ASSERT_TRUE(cubin) << cubin.error().text();
      for (const ReferenceLaunch& pass : problem->operation->reference)
        EXPECT_THAT(*cubin, HasSubstr(pass.symbol)) << path;
    }
  }
}

TEST(Operations, AReferenceThatDoesNotCompileSaysWhy) {
  OperationProblem operation;
  operation.name = "broken";
  operation.source = {"broken.cu", "#include \"operation.cuh\"\nnonsense;\n", {}};
  const auto cubin = OperationKernels::compile(operation, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(cubin.error().text(), HasSubstr("broken.cu(2)"));
}

TEST(Operations, TemplatesCompileInTheirExtremes) {
  const DeviceInfo device = architecture_info("sm_90a").value();
  const TestFolder folder;
  const Builder builder(CubinCache::open(folder.path()).value(), find_toolkit().value());
  for (const auto& path : operation_files()) {
    const auto operation = operation::load_operation(path);
    ASSERT_TRUE(operation) << operation.error().text();
    for (const auto& dtype : dtypes_of(*operation)) {
      const auto problem = operation::make_problem(*operation, usual_sizes(*operation), dtype);
      ASSERT_TRUE(problem) << problem.error().text();
      for (const auto& definition : templates_of(path, *operation)) {
        ASSERT_TRUE(definition) << definition.error().text();
        const auto enumeration = space::enumerate(*definition, *problem, device);
        ASSERT_TRUE(enumeration) << enumeration.error().text();
        ASSERT_FALSE(enumeration->variants.empty()) << definition->name;
        // Types differ in how an element is loaded and stored, which the first one's extremes do not: one for each.
        const std::size_t most = dtype == dtypes_of(*operation).front() ? kMaxExtremes : 1;
        for (const Variant& variant : extreme_variants(*definition, enumeration->variants, most)) {
          const auto plan = space::make_launch_plan(*definition, variant, *problem, device);
          ASSERT_TRUE(plan) << plan.error().text();
          const auto defines = space::make_defines(*definition, variant, *problem, device);
          ASSERT_TRUE(defines) << defines.error().text();
          const auto built = builder.build({1, variant, definition->source, *defines, device.architecture});
          ASSERT_TRUE(built) << built.error().text();
          ASSERT_EQ(built->outcome.kind, OutcomeKind::kOk) << variant.key() << ": " << built->outcome.reason;
          EXPECT_EQ(built->build.spill_bytes, 0) << definition->name << " " << variant.key();
        }
      }
    }
  }
}

}  // namespace
}  // namespace pgtune::gpu
