// SPDX-License-Identifier: MIT
#include "tool/pgtune/pipeline/pipeline_options.hpp"

#include <fmt/format.h>

namespace pgtune::tool {

void WhichPipeline::add_to(CommandLine& app, const char* group) {
  problems_.add_gemm_to(app);
  app.add_option("--stream", stream_, "Operands that live in host memory: A, B and D or some of them (default: A,D)")
      .option_text("LIST")
      .group(group);
  app.add_option("--cut", cut_, "Extent that is cut into chunks: M, N or K (default: what divides all that streams)")
      .option_text("EXTENT")
      .group(group);
  app.add_option("--memory", memory_,
                 "Host memory, where only one kind is to be tried: pageable, pinned, registered, write_combined, "
                 "staged (pageable through a pinned ring) or mapped (zero-copy)")
      .option_text("NAME")
      .group(group);
}

pipeline::StreamedProblem WhichPipeline::streamed() const {
  const std::vector<Problem> problems = problems_.problems();
  if (problems.size() != 1)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("a pipeline is of one problem, not {}. Give one --shape.", problems.size()));
  return value_or_throw(pipeline::parse_streamed(problems.front(), stream_));
}

void WhichPipeline::read_into(session::PipelineOptions& options) const {
  options.cut = parse_word<pipeline::Cut>("--cut", cut_);
  options.memory = parse_word<pipeline::HostMemory>("--memory", memory_);
}

}  // namespace pgtune::tool
