// SPDX-License-Identifier: MIT
#include "pipeline/program/pipeline_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "tuner/util/host_limits.hpp"

namespace pgtune::tool {

std::int64_t default_pinned_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  const std::int64_t quarter = pages > 0 && page > 0 ? std::int64_t{pages} * page / 4 : std::int64_t{1} << 30;
  return std::min(quarter, available_memory_bytes().value_or(quarter) / 2);
}

std::chrono::milliseconds request_timeout(const pipeline::StreamedProblem& streamed) {
  constexpr double kMillisecondsAGib = 20'000;
  const double gib = static_cast<double>(streamed.bytes_in() + streamed.bytes_out()) / (std::int64_t{1} << 30);
  return std::chrono::seconds(120) + std::chrono::milliseconds(std::llround(kMillisecondsAGib * gib));
}

void WhichPipeline::add_to(CommandLine& app, const char* group) {
  problems_.add_product_to(app);
  app.add_option("--stream", stream_, "Operands in host memory, of A, B and D (default: A,D)")
      .option_text("LIST")
      .group(group);
  app.add_option("--cut", cut_,
                 "Extent that is cut into chunks: M, N or K (default: each that divides all that stream)")
      .option_text("EXTENT")
      .group(group);
  app.add_option("--memory", memory_,
                 "Try this kind of host memory alone: pageable, pinned, registered, write_combined, "
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
