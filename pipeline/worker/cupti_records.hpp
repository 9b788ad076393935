// SPDX-License-Identifier: MIT
// The beginnings of CUPTI's activity records, as far as pgtune reads them. They are declared here, and not taken from
// cupti_activity.h, because a toolkit may lack that header and its newest declaration names one release's record alone:
// CUPTI 12.8 hands out CUpti_ActivityMemcpy5 and CUpti_ActivityKernel9, 13.0 CUpti_ActivityMemcpy6 and
// CUpti_ActivityKernel10, both CUpti_ActivityMemset4. Their beginnings are the same up to what is read here; a test
// compares each offset with those of the header where there is one (pipeline/tests/worker/cupti_records_test.cpp).
// Records only ever grow at their end.
#pragma once

#include <cstdint>

namespace pgtune::gpu::cupti {

// CUpti_ActivityKind. Kernels are of the kind that lets them run at the same time.
inline constexpr std::uint32_t kMemcpy = 1, kMemset = 2, kConcurrentKernel = 10;
// CUpti_ActivityMemcpyKind.
inline constexpr std::uint8_t kHostToDevice = 1, kDeviceToHost = 2;

// Members without a comment are named as CUPTI's; times are in ns, and both 0 where CUPTI does not know them.

struct MemcpyRecord {
  std::uint32_t kind;
  std::uint8_t copy_kind, source_kind, destination_kind, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation, runtime_correlation, padding;
  void* reserved;
  std::uint64_t graph_node;
};

struct MemsetRecord {
  std::uint32_t kind, value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
  std::uint16_t flags, memory_kind;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
};

struct KernelRecord {
  std::uint32_t kind;
  std::uint8_t cache_config, shared_memory_config;
  std::uint16_t registers;
  std::uint32_t partitioned_cache[2];
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3], static_shared_memory, dynamic_shared_memory;
  std::uint32_t local_memory_per_thread, local_memory_total, correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued, submitted;
  std::uint8_t launch_type, shared_memory_carveout[2], padding;
  std::uint32_t shared_memory_executed;
  std::uint64_t graph_node;
};

}  // namespace pgtune::gpu::cupti
