// SPDX-License-Identifier: MIT
// A run of a schedule from the GPU's activity records: when each copy and each kernel began and ended. timeline.hpp has
// the alternative, events, which tell when a stream reached a point.
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
  std::uint32_t call = 0;                 ///< the issuing call; numbers increase
  std::int64_t bytes = 0;                 ///< of all but kernels
  std::uint64_t graph_node = 0;           ///< numbers increase from node to node of a graph; 0: of no graph
};

/// One run of a schedule with its records.
struct RecordedRun {
  std::vector<Activity> activities;  ///< in any order, and of other work too
  /// The recorder's numbers of the schedule's streams; unused for a graph. CUPTI gives no number for the legacy default
  /// stream: it is the only other stream with records.
  std::vector<std::uint32_t> streams;
  std::vector<int> pieces;  ///< by chunk, the number of kernels, fills and copies inside the GPU of its product
  bool as_graph = false;
  std::int64_t begin_ns = 0, end_ns = 0;  ///< the times before the first call, and when the host had all results
};

/// Assigns the records' times to the schedule's operations. A stream works in order, so its records in the order of
/// calls are those of its operations in order; for a graph this holds for its nodes in the order of capture. Kind and
/// bytes must agree. The records of one product become one span, from the first start to the last end. Copies of one
/// call keep their own records if each has one; otherwise they share the call's time by bytes. Records of other
/// streams, other graphs and earlier times are ignored. Errors (internal): missing or surplus records, or records that
/// cannot be those of the operations.
[[nodiscard]] Result<Timeline> timeline_of_records(const Schedule& schedule, const RecordedRun& run);

}  // namespace pgtune::pipeline
