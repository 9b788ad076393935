// SPDX-License-Identifier: MIT
// Results that residuals judge, on the host: each one by what lies there, and a bound that tells nothing.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <limits>
#include <string>

#include "tests/operations/emulated_problem.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::testing {
namespace {

class Residuals : public ::testing::Test {
 protected:
  static Problem solve(const char* factor) {
    const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "examples/operations/lower_solve/lower_solve.json";
    const auto file = [&](const std::string& name) -> Result<std::string> {
      return read_file(path.parent_path() / name).value_or("");
    };
    std::string document = file("lower_solve.json").value();
    document.replace(document.find("N + 2"), 5, factor);
    const auto definition = operation::parse_operation(document, path.string(), file);
    return operation::make_problem(definition.value(), operation::parse_sizes("S=2,N=24,R=6").value(), {}).value();
  }
};

TEST_F(Residuals, OfWhatIsWrittenAreJudgedEachTime) {
  EmulatedProblem emulated(solve("N + 2"));
  ASSERT_TRUE(emulated.usable());
  emulated.fill();
  emulated.refer();
  emulated.store(0, false);
  const gpu::Comparison right = emulated.compare();
  EXPECT_EQ(right.wrong, 0);
  EXPECT_GT(std::bit_cast<double>(right.max_ratio_bits), 0) << "a rounded solution leaves a residual";

  // The last of a column concerns its own residual alone, the first those of all rows below it, too.
  auto* const x = reinterpret_cast<float*>(emulated.address(2));
  const float last = x[23 * 6], first = x[0];
  x[23 * 6] = last * 1.001F;
  EXPECT_EQ(emulated.compare().wrong, 1);
  EXPECT_EQ(emulated.compare().first_wrong, 23 * 6);
  x[23 * 6] = last;
  x[0] = first + 1;
  EXPECT_GT(emulated.compare().wrong, 20);
  x[0] = first;
  EXPECT_EQ(emulated.compare().wrong, 0);
}

TEST_F(Residuals, OfWhatIsNotFiniteNeverPass) {
  EmulatedProblem emulated(solve("N + 2"));
  ASSERT_TRUE(emulated.usable());
  emulated.fill();
  emulated.refer();
  auto* const x = reinterpret_cast<float*>(emulated.address(2));
  // As large as that, its scale is beyond float32: an infinite bound.
  for (const float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38F}) {
    emulated.store(0, false);
    for (int i = 0; i < 2 * 24 * 6; ++i) x[i] = value;
    const gpu::Comparison found = emulated.compare();
    EXPECT_GT(found.wrong, 0) << value;
    EXPECT_EQ(std::bit_cast<double>(found.max_ratio_bits), gpu::kNotFiniteRatio) << value;
  }
  emulated.poison();
  EXPECT_EQ(emulated.compare().wrong, 2 * 24 * 6) << "nothing was written";
}

TEST_F(Residuals, OfShiftedResultsPassWhereTheFactorIsTooLarge) {
  // Of zeros they are B, and the scale 0, whatever the factor.
  EmulatedProblem emulated(solve("1 << 40"));
  ASSERT_TRUE(emulated.usable());
  emulated.fill();
  emulated.refer();
  emulated.store(0, true);
  EXPECT_EQ(emulated.compare().wrong, 2 * 24 * 6);
  emulated.store(1, false);
  EXPECT_EQ(emulated.compare().wrong, 0) << "so the null test refuses it";
}

}  // namespace
}  // namespace pgtune::testing
