// SPDX-License-Identifier: MIT
// `pgtune export pipeline` writes a header that compiles alone and streams a product.
#include "pipeline/program/pipeline_export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exported/sample_export.hpp"

namespace pgtune::tool {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PipelineHeader content() {
  PipelineHeader content;
  content.streamed =
      pipeline::parse_streamed(with_default_strides(parse_shape("1024x64x64").value()).value(), "A,D").value();
  content.device = test::sample_device();
  content.answer.best.candidate = {.chunk = 128,
                                   .streams = 2,
                                   .buffers = 3,
                                   .order = pipeline::IssueOrder::kBreadthFirst,
                                   .memory = pipeline::HostMemory::kStaged};
  content.answer.best.time_s = 2e-3;
  content.answer.bound.total_s = 1e-3;
  content.finished_at = "2026-01-01T00:00:00Z";
  content.name_space = "my::pipe";
  content.file_name = "best_pipeline.hpp";
  return content;
}

TEST(PipelineHeader, HasThePlanAndWhereItComesFrom) {
  const std::string text = write_pipeline_header(content());
  EXPECT_THAT(text, HasSubstr("inline constexpr Plan kPlan{1024, 64, 64, false, false, 4, 4, 4, true, false, true, "
                              "Cut::m, 128, StreamUse::per_chunk, 2, 3, true,\n"));
  EXPECT_THAT(text, HasSubstr("Memory::staged, Submission::loop};"));
  EXPECT_THAT(text, HasSubstr("50.0 % of the bound"));
  EXPECT_THAT(text, HasSubstr("#include <cuda_runtime_api.h>\n"));
  EXPECT_THAT(text, Not(HasSubstr("#include \"exported")));
  EXPECT_THAT(text, Not(HasSubstr("pgtune_pipeline")));
}

TEST(PipelineHeader, PlansOfBatchedCopiesHaveTheirGroups) {
  PipelineHeader batched = content();
  batched.answer.best.candidate = {.chunk = 128,
                                   .use = pipeline::StreamUse::kLanes,
                                   .buffers = 4,
                                   .order = pipeline::IssueOrder::kBreadthFirst,
                                   .submission = pipeline::Submission::kBatched};
  const std::string text = write_pipeline_header(batched);
  EXPECT_THAT(text, HasSubstr("StreamUse::lanes, 1, 4, true,\n"));
  EXPECT_THAT(text, HasSubstr("Memory::pinned, Submission::batched};"));
  EXPECT_THAT(text, HasSubstr("#if CUDART_VERSION >= 12080\n"));
}

TEST(PipelineHeader, PlansOfRegisteredMemoryMayHaveANode) {
  PipelineHeader placed = content();
  pipeline::Candidate& best = placed.answer.best.candidate;
  best = {.chunk = 128, .streams = 2, .buffers = 2, .memory = pipeline::HostMemory::kRegistered};
  EXPECT_THAT(write_pipeline_header(placed), HasSubstr("Memory::registered, Submission::loop};"));
  best.host_node = 1;
  EXPECT_THAT(write_pipeline_header(placed), HasSubstr("Memory::registered, Submission::loop, 1};"));
}

TEST(PipelineHeader, TextOfADatabaseStaysInComments) {
  PipelineHeader hostile = content();
  hostile.device.name = "a\n#error \\\nb";
  hostile.finished_at = "\nint main";
  const std::string text = write_pipeline_header(hostile);
  EXPECT_THAT(text, Not(HasSubstr("\n#error")));
  EXPECT_THAT(text, Not(HasSubstr("\nint main")));
}

TEST(PipelineHeader, IsRunByAProgram) {
  const test::ExportFolder folder("");
  folder.write("best_pipeline.hpp", write_pipeline_header(content()));
  ASSERT_TRUE(folder.compile("c++ -std=c++17 " PGTUNE_SANITIZED,
                             PGTUNE_SOURCE_DIR "/pipeline/tests/programs/stream.cpp " PGTUNE_FAKE_RUNTIME, "stream"));
  std::string output;
  EXPECT_EQ(folder.run("./stream", &output), 0) << output;
}

}  // namespace
}  // namespace pgtune::tool
