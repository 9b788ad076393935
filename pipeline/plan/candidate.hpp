// SPDX-License-Identifier: MIT
// One way to drive the three workers of a pipeline: copy in, compute, copy out. Also the reason if it is illegal or
// does not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/plan/streamed_problem.hpp"
#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune::pipeline {

/// The extent of the product that is cut into chunks.
enum class Cut { kM, kN, kK };

/// The streams for the operations of a chunk.
enum class StreamUse {
  kPerChunk,       ///< all of a chunk to one stream, chunks in turn to all streams
  kLanes,          ///< copies in, kernels and copies out each to their own stream, tied by events
  kOneCopyLane,    ///< the same with both directions in one stream: as if there were one copy engine
  kDefaultStream,  ///< copies as in kPerChunk, kernels to the legacy default stream, which waits for all others and
                   ///< they for it
};

/// Order in which the host issues a group of chunks: see Candidate::group().
enum class IssueOrder {
  kDepthFirst,    ///< copy in, kernel, copy out of one chunk, then of the next
  kBreadthFirst,  ///< the group's copies in, then its kernels, then its copies out
};

/// The host memory of streamed operands.
enum class HostMemory {
  kPageable,
  kPinned,         ///< cudaHostAlloc
  kRegistered,     ///< ordinary memory, pinned by cudaHostRegister
  kWriteCombined,  ///< A and B write-combined, D pinned
  kStaged,         ///< pageable, copied by helper threads through a ring of pinned buffers
  kMapped,         ///< pinned, and read and written by the kernel itself: zero-copy
};

enum class Submission {
  kBlocking,  ///< each call waits: the serial loop
  kLoop,      ///< asynchronous calls
  kGraph,     ///< the loop captured once, launched as one CUDA graph
  kBatched,   ///< the loop with copies that follow each other in a stream in one call: cudaMemcpyBatchAsync
};

[[nodiscard]] EnumTable<Cut> enum_table(Cut value);                ///< "M", "N", "K"
[[nodiscard]] EnumTable<StreamUse> enum_table(StreamUse value);    ///< "per_chunk", "lanes", ...
[[nodiscard]] EnumTable<IssueOrder> enum_table(IssueOrder value);  ///< "depth", "breadth"
[[nodiscard]] EnumTable<HostMemory> enum_table(HostMemory value);  ///< "pageable", "pinned", ...
[[nodiscard]] EnumTable<Submission> enum_table(Submission value);  ///< "blocking", "loop", "graph"

inline constexpr int kMostStreams = 8;
inline constexpr int kMostBuffers = 16;

struct Candidate {
  Cut cut = Cut::kM;
  std::int64_t chunk = 0;  ///< extent of all chunks but the last
  StreamUse use = StreamUse::kPerChunk;
  int streams = 1;  ///< of kPerChunk and kDefaultStream; 1 elsewhere
  int buffers = 1;  ///< chunks that have device memory at a time
  IssueOrder order = IssueOrder::kDepthFirst;
  HostMemory memory = HostMemory::kPinned;
  Submission submission = Submission::kLoop;
  /// NUMA node of registered memory, on hosts with several; absent: that of the thread that touches it first.
  std::optional<int> host_node = {};

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("cut", self.cut);
    visit("chunk", self.chunk);
    visit("stream_use", self.use);
    visit("streams", self.streams);
    visit("buffers", self.buffers);
    visit("order", self.order);
    visit("memory", self.memory);
    visit("submission", self.submission);
    visit("host_node", self.host_node);
  }
  friend bool operator==(const Candidate&, const Candidate&) = default;

  /// Chunks that are issued step by step in breadth-first order: one for each stream that chunks take in turn. With
  /// batched copies lanes have groups, too; the buffers hold two groups, so that one is copied while the other is
  /// computed.
  [[nodiscard]] int group() const;
  /// Equal exactly when candidates are: "M4096 per_chunk s3 b3 depth pinned loop", of a host's node "... registered
  /// loop n1".
  [[nodiscard]] std::string key() const;
  /// For display, without irrelevant properties: "M 4096, 3 streams, 3 buffers, pinned".
  [[nodiscard]] std::string text() const;
};

struct Limits {
  std::int64_t device_bytes = 0;  ///< free memory on the GPU
  std::int64_t pinned_bytes = 0;  ///< host memory that may be pinned at a time
  bool batched_copies = true;     ///< the driver has cudaMemcpyBatchAsync
};

/// Bytes on the GPU: resident operands, whole copies of those that stream undivided, buffers, and two workspaces for
/// each stream that launches kernels.
[[nodiscard]] std::int64_t device_bytes(const StreamedProblem& streamed, const Candidate& candidate);
inline constexpr std::int64_t kWorkspaceBytes = std::int64_t{64} << 20;

/// Bytes of host memory that the candidate pins.
[[nodiscard]] std::int64_t pinned_bytes(const StreamedProblem& streamed, const Candidate& candidate);

/// Streams that launch kernels.
[[nodiscard]] int compute_streams(const Candidate& candidate);

/// The reason; empty if the candidate can run. It does not name the candidate.
[[nodiscard]] std::string why_illegal(const StreamedProblem& streamed, const Candidate& candidate,
                                      const Limits& limits);

}  // namespace pgtune::pipeline
