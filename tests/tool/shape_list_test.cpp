// SPDX-License-Identifier: MIT
// The files of shapes that pgtune ships can be read, and name no problem twice; what is written as a line is read back.
#include "tool/pgtune/cli/options/problem_options.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

TEST(ShapeLists, OfTheSuitesNameEachProblemOnce) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PGTUNE_SOURCE_DIR "/configs/shapes")) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path());
    ++files;
    const std::vector<ListedShape> shapes = parse_shape_list(read_shape_list(entry.path().string()), "suite");
    ASSERT_FALSE(shapes.empty());
    EXPECT_GE(shapes.size(), shapes.front().first_m ? 8U : 10U);
    std::set<std::string> seen;
    for (const ListedShape& shape : shapes) {
      Problem problem = with_layout(shape.problem, shape.layout.value_or("nn")).value();
      problem.dtype = shape.dtype.value_or(Dtype::kF32);
      problem.epilogue = shape.epilogue.value_or(Epilogue{});
      if (shape.batch) problem.batch = std::stoll(*shape.batch);
      EXPECT_TRUE(seen.insert(with_default_strides(problem).value().key()).second) << "line " << shape.line;
    }
  }
  EXPECT_GE(files, 7U);
}

TEST(ShapeLists, MayBeginWithAByteOrderMark) {
  const support::ScratchFolder folder;
  const std::filesystem::path file = folder / "marked.txt";
  std::ofstream(file) << "\xef\xbb\xbf"
                         "64x64x64\r\n128x64x32\r\n";
  EXPECT_EQ(parse_shape_list(read_shape_list(file.string()), "marked").size(), 2U);
}

TEST(ShapeLists, MayHoldRangesOfM) {
  const std::vector<ListedShape> shapes = parse_shape_list("1..8192x64x32 bf16 nt\n64x64x64\n", "list");
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].first_m, 1);
  EXPECT_EQ(shapes[0].problem.shape(), "8192x64x32");
  EXPECT_EQ(shapes[0].dtype, Dtype::kBf16);
  EXPECT_EQ(shapes[1].first_m, std::nullopt);
}

TEST(ShapeLists, ReadBackTheLinesThatAreWritten) {
  Problem problem = with_layout(parse_shape("512x256x128").value(), "tn").value();
  problem.dtype = Dtype::kBf16;
  EXPECT_EQ(listed(with_default_strides(problem).value()).line, "512x256x128 bf16 tn");
  problem.output = ElementType::kFloat32;
  problem.epilogue = parse_epilogue("bias,gelu").value();
  problem.batch = 8;
  problem.lda = 640, problem.ldb = 272, problem.ldc = 264;
  problem.beta = 0.5;
  problem.chained = true;
  const ListedProblem written = listed(with_default_strides(problem).value());
  EXPECT_EQ(written.option, "--shapes");
  const ListedShape read = parse_shape_list(written.line, "list").at(0);
  EXPECT_EQ(read.problem.shape(), "512x256x128");
  EXPECT_EQ(read.dtype, problem.dtype);
  EXPECT_EQ(read.layout, "tn");
  EXPECT_EQ(read.output, problem.output);
  EXPECT_EQ(read.epilogue, problem.epilogue);
  EXPECT_EQ(read.batch, "8");
  EXPECT_EQ(read.lda, "640");
  EXPECT_EQ(read.ldb, "272");
  EXPECT_EQ(read.ldc, "264");
  EXPECT_EQ(read.beta, "0.5");
  EXPECT_TRUE(read.chained);
}

TEST(ShapeLists, MayHaveWeights) {
  EXPECT_EQ(parse_shape_list("64x64x64 bf16 weight 72.5", "list").at(0).weight, "72.5");
}

TEST(ShapeLists, GiveEachNumberOnce) {
  EXPECT_EQ(parse_shape_list("64x64x64 ldc 72 # ldc 80", "list").at(0).ldc, "72");
  EXPECT_THROW((void)parse_shape_list("64x64x64 ldc 72 ldc 80", "list"), CommandError);
  EXPECT_THROW((void)parse_shape_list("64x64x64 ldc", "list"), CommandError);
}

}  // namespace
}  // namespace pgtune::tool
