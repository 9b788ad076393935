// SPDX-License-Identifier: MIT
// The call of an operation in one of its types. What is its own, `Of` has, which is generated from its JSON: Sizes,
// Operands, Facts, its tables, and how sizes become facts.
#pragma once

#include "exported/call.hpp"
#include "exported/operation_facts.hpp"
#include "exported/operation_types.hpp"

namespace pgtune_export {
namespace detail {

/// Borrows the sizes.
template <typename Of>
class SizesQuery {
 public:
  static constexpr const char* nothing_tuned = "the operation is not tuned for these sizes";

  explicit SizesQuery(const Int* sizes) noexcept : sizes_(sizes) {}
  int kind() const noexcept { return Of::kKind; }
  const TunedSizes* begin() const noexcept { return Of::tuned(); }
  const TunedSizes* end() const noexcept { return Of::tuned() + Of::kTunedCount; }
  bool is_alike(const TunedSizes&) const noexcept { return true; }
  bool is_same(const TunedSizes& e) const noexcept {
    for (int i = 0; i < Of::kSizeCount; ++i) {
      if (e.sizes[i] != sizes_[i]) return false;
    }
    return true;
  }
  double guessed_loss(const TunedSizes&) const noexcept { return -1; }
  /// The length of the vector of log2 ratios of the sizes.
  double distance(const TunedSizes& e) const noexcept {
    double squares = 0;
    for (int i = 0; i < Of::kSizeCount; ++i) squares += squared_doublings(e.sizes[i], sizes_[i]);
    return std::sqrt(squares);
  }
  bool family(int, bool, FamilyKernels&) const noexcept { return false; }
  Neighbourhood neighbourhood() const noexcept { return Of::neighbourhood(); }

 private:
  const Int* sizes_;
};

/// A call whose sizes, buffers and scalars are lists in the order of the operation.
template <typename Of>
class OperationCall : public Selected {
 public:
  static constexpr int kSizeCount = Of::kSizeCount, kBufferCount = Of::kBufferCount, kScalarCount = Of::kScalarCount;

  /// Buffers and scalars in the order of the operation; null: none, and its own scalars.
  static Bindings listed(void* const* buffers, const float* scalars) noexcept {
    Bindings out = Of::bind({});
    for (int i = 0; buffers != nullptr && i < kBufferCount; ++i) out.buffers[i] = buffers[i];
    for (int i = 0; scalars != nullptr && i < kScalarCount; ++i) out.scalars[i] = scalars[i];
    return out;
  }

  Status select_listed(const Int* sizes, const Bindings& given, int device, const Limits& policy) noexcept {
    *this = OperationCall();
    const Status status = choose_kernel(sizes, given, device, policy);
    if (status == Status::cuda_error) *this = OperationCall();
    return status;
  }

  Status run_listed(const Bindings& given, void* workspace, std::size_t bytes, CUstream stream) const noexcept {
    if (choice_.match == Match::none) return Status::not_supported;
    for (int i = 0; i < kBufferCount; ++i) {
      if (given.buffers[i] == nullptr && !Of::kBuffers[i].may_be_null) return Status::invalid_argument;
    }
    if (!is_enough(workspace, bytes)) return Status::workspace_too_small;
    if (!aligned(given)) return Status::misaligned;
    return enqueue(given, workspace, stream);
  }

  /// The sizes it is tuned for.
  static const TunedSizes* tuned(int* count) noexcept {
    *count = Of::kTunedCount;
    return Of::tuned();
  }

 private:
  Status choose_kernel(const Int* sizes, const Bindings& given, int device, const Limits& policy) noexcept {
    if (device < 0 || device >= kMaxDevices) return Status::invalid_argument;
    for (int i = 0; i < kSizeCount; ++i) {
      if (sizes[i] < 1) return refuse(Status::invalid_argument, "every size must be at least 1");
    }
    typename Of::Facts f{};
    const char* why = "";
    if (!Of::describe(f, sizes, why)) return refuse(Status::invalid_argument, why);
    const Device& on = state.devices[device];
    if (!on.ready.load(std::memory_order_acquire)) return Status::not_prepared;
    detail::describe(f, on);
    if (!aligned(given)) return refuse(Status::misaligned, "a pointer is aligned to less than the operation says");
    choice_ = choose(SizesQuery<Of>(sizes), on, f, policy, plan_);
    if (choice_.match == Match::none) return Status::not_supported;
    device_ = &on;
    return encode_maps(given);
  }

  Status refuse(Status status, const char* why) noexcept {
    choice_.why = why;
    return status;
  }

  static bool aligned(const Bindings& given) noexcept {
    for (int i = 0; i < kBufferCount; ++i) {
      if (address(given.buffers[i]) % Of::kBuffers[i].alignment != 0) return false;
    }
    return true;
  }
};

}  // namespace detail

/// Sizes with their kernel: a plain value, to be copied and kept. Every function may be called by any thread at any
/// time. Nothing here allocates, prints, throws, uses the default stream or changes a setting of the device.
template <typename Of>
class Operation : public detail::OperationCall<Of> {
 public:
  using Sizes = typename Of::Sizes;        ///< its dimensions
  using Operands = typename Of::Operands;  ///< device pointers of its buffers, and its scalars

  /// Chooses the kernel. Of the operands only how pointers are aligned counts, which is what the operation says; null
  /// counts as aligned. On any status but ok `out` is empty, and out.choice().why says why.
  static Status select(const Sizes& sizes, const Operands& operands, int device, const Limits& policy,
                       Operation& out) noexcept {
    std::int64_t values[Of::kSizeCount];
    Of::list(sizes, values);
    return out.select_listed(values, Of::bind(operands), device, policy);
  }

  /// Enqueues the operation on the stream, and nothing on any other. May be captured in a graph: the pointers and
  /// scalars are then the graph's. Pointers may change from call to call; no two buffers may share memory.
  Status run(const Operands& operands, void* workspace, std::size_t bytes, CUstream stream) const noexcept {
    return this->run_listed(Of::bind(operands), workspace, bytes, stream);
  }
};

}  // namespace pgtune_export
