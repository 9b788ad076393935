// SPDX-License-Identifier: MIT
// Where CUPTI's header says that the members are which pgtune reads. What is compared is compared by the compiler.
#include "pipeline/worker/cupti_records.hpp"

#include <cupti_activity.h>
#include <cupti_version.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "pipeline/worker/cupti_recorder.hpp"

namespace pgtune::gpu {
namespace {

// The newest records of this header, and those of CUDA 12.8, which it keeps as deprecated ones.
#if CUPTI_API_VERSION >= 130000
using NewMemcpy = CUpti_ActivityMemcpy6;
using NewKernel = CUpti_ActivityKernel10;
#else
using NewMemcpy = CUpti_ActivityMemcpy5;
using NewKernel = CUpti_ActivityKernel9;
#endif

#define PGTUNE_SAME_PLACE(Theirs, their_member, Ours, our_member)                     \
  static_assert(offsetof(Theirs, their_member) == offsetof(cupti::Ours, our_member)); \
  static_assert(sizeof(Theirs::their_member) == sizeof(cupti::Ours::our_member))

#define PGTUNE_SAME_COPY(Theirs)                                       \
  PGTUNE_SAME_PLACE(Theirs, kind, MemcpyRecord, kind);                 \
  PGTUNE_SAME_PLACE(Theirs, copyKind, MemcpyRecord, copy_kind);        \
  PGTUNE_SAME_PLACE(Theirs, bytes, MemcpyRecord, bytes);               \
  PGTUNE_SAME_PLACE(Theirs, start, MemcpyRecord, start);               \
  PGTUNE_SAME_PLACE(Theirs, end, MemcpyRecord, end);                   \
  PGTUNE_SAME_PLACE(Theirs, streamId, MemcpyRecord, stream);           \
  PGTUNE_SAME_PLACE(Theirs, correlationId, MemcpyRecord, correlation); \
  PGTUNE_SAME_PLACE(Theirs, graphNodeId, MemcpyRecord, graph_node);    \
  static_assert(sizeof(Theirs) >= sizeof(cupti::MemcpyRecord))
PGTUNE_SAME_COPY(NewMemcpy);
PGTUNE_SAME_COPY(CUpti_ActivityMemcpy5);

#define PGTUNE_SAME_KERNEL(Theirs)                                     \
  PGTUNE_SAME_PLACE(Theirs, kind, KernelRecord, kind);                 \
  PGTUNE_SAME_PLACE(Theirs, start, KernelRecord, start);               \
  PGTUNE_SAME_PLACE(Theirs, end, KernelRecord, end);                   \
  PGTUNE_SAME_PLACE(Theirs, streamId, KernelRecord, stream);           \
  PGTUNE_SAME_PLACE(Theirs, correlationId, KernelRecord, correlation); \
  PGTUNE_SAME_PLACE(Theirs, name, KernelRecord, name);                 \
  PGTUNE_SAME_PLACE(Theirs, graphNodeId, KernelRecord, graph_node);    \
  static_assert(sizeof(Theirs) >= sizeof(cupti::KernelRecord))
PGTUNE_SAME_KERNEL(NewKernel);
PGTUNE_SAME_KERNEL(CUpti_ActivityKernel9);

PGTUNE_SAME_PLACE(CUpti_ActivityMemset4, kind, MemsetRecord, kind);
PGTUNE_SAME_PLACE(CUpti_ActivityMemset4, bytes, MemsetRecord, bytes);
PGTUNE_SAME_PLACE(CUpti_ActivityMemset4, start, MemsetRecord, start);
PGTUNE_SAME_PLACE(CUpti_ActivityMemset4, end, MemsetRecord, end);
PGTUNE_SAME_PLACE(CUpti_ActivityMemset4, streamId, MemsetRecord, stream);
PGTUNE_SAME_PLACE(CUpti_ActivityMemset4, correlationId, MemsetRecord, correlation);
PGTUNE_SAME_PLACE(CUpti_ActivityMemset4, graphNodeId, MemsetRecord, graph_node);
static_assert(sizeof(CUpti_ActivityMemset4) >= sizeof(cupti::MemsetRecord));

TEST(CuptiHeader, HasTheSameNumbersOfKindsAndStatuses) {
  EXPECT_EQ(cupti::kMemcpy, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_MEMCPY));
  EXPECT_EQ(cupti::kMemset, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_MEMSET));
  EXPECT_EQ(cupti::kConcurrentKernel, static_cast<std::uint32_t>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_EQ(cupti::kHostToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(cupti::kDeviceToHost, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  EXPECT_EQ(kCuptiSuccess, CUPTI_SUCCESS);
  EXPECT_EQ(kCuptiNoMoreRecords, CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT_EQ(kCuptiIncompleteRecord, CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(kCuptiNoPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(kCuptiOtherProfiler, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

// As many arguments as the pointers of CuptiLibrary have.
template <typename Result, typename... Arguments>
constexpr std::size_t arguments_of(Result (*)(Arguments...)) {
  return sizeof...(Arguments);
}
static_assert(arguments_of(&cuptiActivityRegisterCallbacks) == 2 && arguments_of(&cuptiActivityEnable) == 1 &&
              arguments_of(&cuptiActivityDisable) == 1 && arguments_of(&cuptiActivityFlushAll) == 1 &&
              arguments_of(&cuptiActivityGetNextRecord) == 3 && arguments_of(&cuptiActivityGetNumDroppedRecords) == 3 &&
              arguments_of(&cuptiGetTimestamp) == 1 && arguments_of(&cuptiGetStreamIdEx) == 4 &&
              arguments_of(&cuptiGetResultString) == 2 && arguments_of(&cuptiGetVersion) == 1);

}  // namespace
}  // namespace pgtune::gpu
