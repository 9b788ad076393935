// SPDX-License-Identifier: MIT
// A run of a schedule from records of what the GPU did: when each copy and each kernel began and ended there. Events,
// which tell when a stream came to a point, are timeline.hpp's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/plan/timeline.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::pipeline {

enum class ActivityKind {
  kKernel,
  kCopyIn,   ///< from the host to the GPU
  kCopyOut,  ///< from the GPU to the host
  kInside,   ///< a fill, or a copy on the GPU
};

/// One piece of work of the GPU.
struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  std::string name;                       ///< of a kernel
  std::int64_t start_ns = 0, end_ns = 0;  ///< both 0: not known
  std::uint32_t stream = 0;               ///< by the recorder's own number
  std::uint32_t call = 0;                 ///< the call that issued it; numbers rise from call to call
  std::int64_t bytes = 0;                 ///< of all but kernels
  std::uint64_t graph_node = 0;           ///< numbers rise from node to node of a graph; 0: of no graph
};

/// One run of a schedule with what was recorded meanwhile.
struct RecordedRun {
  std::vector<Activity> activities;  ///< in any order, and of other work too
  /// The recorder's numbers of the schedule's streams; not needed of a graph. CUPTI says none of the legacy default
  /// stream: it is the one other stream that has records.
  std::vector<std::uint32_t> streams;
  std::vector<int> pieces;  ///< by chunk, of how many kernels, fills and copies inside the GPU its product consists
  bool as_graph = false;
  std::int64_t begin_ns = 0, end_ns = 0;  ///< before the first call, and when the host had all results
};

/// The records' times as those of the schedule's operations. A stream works off what it is given in order, so its
/// records, in the order of their calls, are its operations' in theirs; of a graph the nodes are, in the order in which
/// they were captured. Kind and bytes must agree. What belongs to one product becomes one span, from the first one's
/// start to the last one's end; copies of one call are told apart where each has its record, and share its time by
/// their bytes where they do not. Records of other streams, of other graphs' work and of the time before are passed
/// over. Errors (internal): records that lack, are left over or cannot be those of the operations.
[[nodiscard]] Result<Timeline> timeline_of_records(const Schedule& schedule, const RecordedRun& run);

}  // namespace pgtune::pipeline
