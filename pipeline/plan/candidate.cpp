// SPDX-License-Identifier: MIT
#include "pipeline/plan/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/plan/chunk_plan.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::pipeline {
namespace {

constexpr EnumNames<Cut, 3> kCuts{{{Cut::kM, "M"}, {Cut::kN, "N"}, {Cut::kK, "K"}}};
constexpr EnumNames<StreamUse, 4> kUses{{{StreamUse::kPerChunk, "per_chunk"},
                                         {StreamUse::kLanes, "lanes"},
                                         {StreamUse::kOneCopyLane, "one_copy_lane"},
                                         {StreamUse::kDefaultStream, "default_stream"}}};
constexpr EnumNames<IssueOrder, 2> kOrders{
    {{IssueOrder::kDepthFirst, "depth"}, {IssueOrder::kBreadthFirst, "breadth"}}};
constexpr EnumNames<HostMemory, 6> kMemories{{{HostMemory::kPageable, "pageable"},
                                              {HostMemory::kPinned, "pinned"},
                                              {HostMemory::kRegistered, "registered"},
                                              {HostMemory::kWriteCombined, "write_combined"},
                                              {HostMemory::kStaged, "staged"},
                                              {HostMemory::kMapped, "mapped"}}};
constexpr EnumNames<Submission, 4> kSubmissions{{{Submission::kBlocking, "blocking"},
                                                 {Submission::kLoop, "loop"},
                                                 {Submission::kGraph, "graph"},
                                                 {Submission::kBatched, "batched"}}};

std::string streams_text(const Candidate& candidate) {
  switch (candidate.use) {
    case StreamUse::kLanes:
      return "a stream a worker";
    case StreamUse::kOneCopyLane:
      return "one copy stream";
    case StreamUse::kDefaultStream:
      return counted(candidate.streams, "stream") + " and the default stream";
    case StreamUse::kPerChunk:
      break;
  }
  return counted(candidate.streams, "stream");
}

}  // namespace

EnumTable<Cut> enum_table(Cut /*value*/) { return kCuts; }
EnumTable<StreamUse> enum_table(StreamUse /*value*/) { return kUses; }
EnumTable<IssueOrder> enum_table(IssueOrder /*value*/) { return kOrders; }
EnumTable<HostMemory> enum_table(HostMemory /*value*/) { return kMemories; }
EnumTable<Submission> enum_table(Submission /*value*/) { return kSubmissions; }

int Candidate::group() const {
  if (order == IssueOrder::kDepthFirst) return 1;
  return use == StreamUse::kLanes ? buffers / 2 : streams;
}

std::string Candidate::key() const {
  std::string key = fmt::format("{}{} {} s{} b{} {} {} {}", to_string(cut), chunk, to_string(use), streams, buffers,
                                to_string(order), to_string(memory), to_string(submission));
  if (host_node) key += fmt::format(" n{}", *host_node);
  return key;
}

std::string Candidate::text() const {
  std::string out = fmt::format("{} {}", to_string(cut), chunk);
  if (memory == HostMemory::kMapped) return out + ", zero-copy";
  if (submission == Submission::kBlocking) return fmt::format("{}, serial, {}", out, to_string(memory));
  out += fmt::format(", {}, {}", streams_text(*this), counted(buffers, "buffer"));
  if (order == IssueOrder::kBreadthFirst) out += ", breadth-first";
  std::string memory_word(to_string(memory));
  if (memory == HostMemory::kWriteCombined) memory_word = "write-combined";
  if (host_node) memory_word += fmt::format(" on node {}", *host_node);
  out += ", " + memory_word;
  if (submission == Submission::kGraph) out += ", graph";
  if (submission == Submission::kBatched) out += ", batched copies";
  return out;
}

namespace {

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (std::int64_t{1} << 30); }

std::string why_not_this_cut(const StreamedProblem& streamed, const Candidate& candidate) {
  const std::int64_t extent = extent_of(streamed.problem, candidate.cut);
  if (candidate.chunk < 1 || candidate.chunk > extent)
    return fmt::format("a chunk of {} is not within {} = {}", candidate.chunk, to_string(candidate.cut), extent);
  if (candidate.chunk * kMostChunks < extent) return fmt::format("there would be more than {} chunks", kMostChunks);
  if (std::none_of(std::begin(kMatrices), std::end(kMatrices),
                   [&](Matrix matrix) { return streamed.streams(matrix) && divides(candidate.cut, matrix); }))
    return fmt::format("a cut along {} divides no operand that streams", to_string(candidate.cut));
  const Problem& problem = streamed.problem;
  if (candidate.cut == Cut::kK && candidate.chunk < extent && problem.type_of_c() != traits(problem.dtype).accumulator)
    return fmt::format("a cut along K adds the chunks up in D, which rounds to {} each time; its D must be {}",
                       to_string(problem.type_of_c()), to_string(traits(problem.dtype).accumulator));
  return {};
}

std::string why_not_these_streams(const Candidate& candidate, std::size_t chunks) {
  const bool shared = candidate.use == StreamUse::kPerChunk || candidate.use == StreamUse::kDefaultStream;
  if (candidate.streams < 1 || candidate.streams > kMostStreams)
    return fmt::format("streams must be 1 to {}", kMostStreams);
  if (!shared && candidate.streams != 1) return "lanes have a stream for each worker, not several";
  if (candidate.buffers < 1 || candidate.buffers > kMostBuffers)
    return fmt::format("buffers must be 1 to {}", kMostBuffers);
  if (static_cast<std::size_t>(candidate.buffers) > chunks) return "there are more buffers than chunks";
  if (static_cast<std::size_t>(candidate.streams) > chunks) return "there are more streams than chunks";
  if (candidate.buffers < candidate.streams) return "a stream without a buffer waits for another one's";
  if (candidate.order == IssueOrder::kDepthFirst) return {};
  if (candidate.use == StreamUse::kLanes && candidate.submission == Submission::kBatched)
    return candidate.buffers >= 4 && candidate.buffers % 2 == 0
               ? ""
               : "groups of batched copies are half of the buffers, so that they must be 4, 6, 8 and so on";
  if (!shared || candidate.streams < 2) return "an order of issue needs two streams that chunks share in turn";
  return {};
}

/// Whether two copies, each of one piece of memory, follow each other in a stream: A and B of a chunk, or a group's
/// chunks in a lane.
bool merges_copies(const StreamedProblem& streamed, const Candidate& candidate) {
  const auto pieces = [&](Matrix matrix) {
    return has_buffers(streamed, matrix, candidate) && has_whole_rows(streamed, matrix, candidate.cut) ? 1 : 0;
  };
  const int in = pieces(Matrix::kA) + pieces(Matrix::kB);
  return in == 2 || (candidate.use == StreamUse::kLanes && candidate.group() > 1 && in + pieces(Matrix::kD) > 0);
}

std::string why_not_batched(const StreamedProblem& streamed, const Candidate& candidate, const Limits& limits) {
  if (candidate.submission != Submission::kBatched) return {};
  if (!limits.batched_copies) return "the driver has no cudaMemcpyBatchAsync, which came with CUDA 12.8";
  if (candidate.memory == HostMemory::kPageable || candidate.memory == HostMemory::kStaged)
    return "copies that need the host's help are made one by one, not in batches";
  if (!merges_copies(streamed, candidate))
    return "batched copies would be of one copy each: a call is of A and B of a chunk, or of a group of chunks with a "
           "stream a worker, and of whole rows as they are stored";
  return {};
}

std::string why_not_so_submitted(const StreamedProblem& streamed, const Candidate& candidate, std::size_t chunks) {
  const bool plain = candidate.streams == 1 && candidate.buffers == 1 && candidate.use == StreamUse::kPerChunk;
  if (candidate.submission == Submission::kBlocking) {
    if (!plain) return "calls that wait use one stream and one buffer";
    if (candidate.memory == HostMemory::kStaged || candidate.memory == HostMemory::kMapped)
      return "calls that wait copy between the operands and the GPU themselves";
  }
  if (candidate.memory == HostMemory::kMapped && !(plain && chunks == 1))
    return "a kernel that reads host memory itself needs no chunks, streams or buffers";
  if (candidate.memory == HostMemory::kWriteCombined && !streamed.a && !streamed.b)
    return "write-combined memory is for operands that the host only writes, and none streams";
  if (candidate.host_node && (candidate.memory != HostMemory::kRegistered || *candidate.host_node < 0))
    return "a NUMA node is chosen for registered memory alone: CUDA places what it allocates itself";
  if (candidate.submission == Submission::kGraph) {
    if (candidate.use == StreamUse::kDefaultStream) return "the legacy default stream cannot be captured";
    if (candidate.memory == HostMemory::kPageable || candidate.memory == HostMemory::kStaged)
      return "copies that need the host's help cannot be captured";
  }
  return {};
}

}  // namespace

int compute_streams(const Candidate& candidate) {
  return candidate.use == StreamUse::kPerChunk ? candidate.streams : 1;
}

std::int64_t device_bytes(const StreamedProblem& streamed, const Candidate& candidate) {
  const Chunk largest{0, std::min(candidate.chunk, extent_of(streamed.problem, candidate.cut))};
  // The last chunk may be another problem, with its own kernel.
  std::int64_t bytes = 2 * compute_streams(candidate) * kWorkspaceBytes;
  for (const Matrix matrix : kMatrices) {
    if (has_buffers(streamed, matrix, candidate)) {
      bytes += candidate.buffers * bytes_of(streamed, matrix, region_of(streamed, matrix, candidate.cut, largest));
    } else if (!streamed.streams(matrix) || candidate.memory != HostMemory::kMapped) {
      bytes += streamed.bytes(matrix);
    }
  }
  return bytes;
}

std::int64_t pinned_bytes(const StreamedProblem& streamed, const Candidate& candidate) {
  if (candidate.memory == HostMemory::kPageable) return 0;
  std::int64_t bytes = 0;
  const Chunk largest{0, std::min(candidate.chunk, extent_of(streamed.problem, candidate.cut))};
  for (const Matrix matrix : kMatrices) {
    if (!streamed.streams(matrix)) continue;
    const bool ring = candidate.memory == HostMemory::kStaged;
    bytes += ring ? bytes_of(streamed, matrix, region_of(streamed, matrix, candidate.cut, largest)) *
                        (divides(candidate.cut, matrix) ? candidate.buffers : 1)
                  : streamed.bytes(matrix);
  }
  return bytes;
}

std::string why_illegal(const StreamedProblem& streamed, const Candidate& candidate, const Limits& limits) {
  if (std::string why = why_not_this_cut(streamed, candidate); !why.empty()) return why;
  const std::size_t chunks = chunks_of(streamed.problem, candidate.cut, candidate.chunk).size();
  if (std::string why = why_not_these_streams(candidate, chunks); !why.empty()) return why;
  if (std::string why = why_not_so_submitted(streamed, candidate, chunks); !why.empty()) return why;
  if (std::string why = why_not_batched(streamed, candidate, limits); !why.empty()) return why;
  if (const std::int64_t needed = device_bytes(streamed, candidate); needed > limits.device_bytes)
    return fmt::format("it needs {:.1f} GiB of GPU memory and {:.1f} are free", gib(needed), gib(limits.device_bytes));
  if (const std::int64_t pinned = pinned_bytes(streamed, candidate); pinned > limits.pinned_bytes)
    return fmt::format("it pins {} MiB of host memory and --pinned-limit allows {}", ((pinned - 1) >> 20) + 1,
                       limits.pinned_bytes >> 20);
  return {};
}

}  // namespace pgtune::pipeline
