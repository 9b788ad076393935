// SPDX-License-Identifier: MIT
// The current problem's operands in device memory: the copies that timed launches rotate over, and the guarded places
// in which launches are checked; filled with data, guards and poison.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/guarded_memory.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/model/conditions.hpp"

namespace pgtune::gpu {

/// The order of the guarded places.
inline constexpr std::array kGuardedPlaces{MemoryEdge::kStart, MemoryEdge::kEnd};

/// Memory that launches must not write.
struct Guard {
  std::string place;  ///< as GuardZone's
  bool around_result = false;
  DeviceSpan span;
};

/// A buffer that launches do not change.
struct WatchedInput {
  std::string name;
  DeviceSpan span;
  std::optional<std::uint64_t> into = {};  ///< it holds pointers into the buffer that begins there
};

class OperandBuffers {
 public:
  /// The content of the operands. Each copy and operand has its own random stream under the seed.
  struct Data {
    DataDistribution distribution = DataDistribution::kUniform;
    std::uint64_t seed = 0;
    /// Different contents of copies: further ones hold those of the first again, in turn. 0: as many as copies.
    std::size_t sets = 0;
  };

  /// Allocates `copies` sets. cudaErrorMemoryAllocation where they do not fit. `kernels` and `operation` must outlive
  /// the result.
  [[nodiscard]] static CudaResult<OperandBuffers> allocate(const HelperKernels& kernels,
                                                           const OperationKernels& operation, const Data& data,
                                                           std::int64_t copies, cudaStream_t stream);

  /// Allocates one more set, each buffer with nothing mapped around it, in two places: all buffers at the start of
  /// their memory, and all at its end. They share the memory: filling one spoils the other. Errors as
  /// GuardedMemory::allocate(). `driver` must outlive the buffers.
  [[nodiscard]] CudaResult<> add_guarded_places(const Driver& driver);

  /// The operands of launches: copies(), then the guarded places, if any. The functions below take indices into this.
  [[nodiscard]] std::vector<OperandSet> places() const;
  [[nodiscard]] std::size_t guarded_places() const { return guarded_.empty() ? 0 : kGuardedPlaces.size(); }
  [[nodiscard]] const OperandSet& place(std::size_t index) const;

  /// Enqueues the filling of place `index`: data in the inputs, poison everywhere else. The guarded places hold the
  /// data of copy 0.
  [[nodiscard]] CudaResult<> fill(std::size_t index, cudaStream_t stream) const;
  /// Enqueues data into the inputs alone.
  [[nodiscard]] CudaResult<> fill_inputs(std::size_t index, cudaStream_t stream) const {
    return operation_->fill(place(index), data_.distribution, seed_of(index), stream);
  }
  /// The same with the data of the operation's case of that index.
  [[nodiscard]] CudaResult<> fill_case(std::size_t fill_case, std::size_t index, cudaStream_t stream) const {
    return operation_->fill_case(fill_case, place(index), data_.distribution, seed_of(index), stream);
  }
  /// Enqueues poison into all guards of place `index`, and as poison_results().
  [[nodiscard]] CudaResult<> poison(std::size_t index, cudaStream_t stream) const;

  /// The copies of timed launches.
  [[nodiscard]] const std::vector<OperandSet>& copies() const { return copies_; }
  /// Whatever is timed on these operands is compared, and shares a LaunchMode.
  /// The buffers must outlive what has the rotation, and not move.
  [[nodiscard]] Rotation rotation() const;
  /// Timed launches shall find no operand in L2 that was there before. `sweep` must outlive the buffers.
  void sweep_with(const L2Sweep& sweep) { sweep_ = &sweep; }
  [[nodiscard]] const HelperKernels& kernels() const { return *kernels_; }
  [[nodiscard]] const Data& data() const { return data_; }
  /// The data of fill() from now on.
  void set_data(const Data& data) { data_ = data; }
  /// Enqueues `pattern` into outputs and scratch of place `index`, and their data into buffers that launches read and
  /// write.
  [[nodiscard]] CudaResult<> poison_results(std::size_t index, std::uint32_t pattern, cudaStream_t stream) const;
  /// Enqueues a rewrite of the outputs with their present content.
  [[nodiscard]] CudaResult<> rewrite_results(std::size_t index, cudaStream_t stream) const;
  /// The buffers that launches must not change.
  [[nodiscard]] std::vector<WatchedInput> watched_inputs(std::size_t index) const;
  /// Launches read buffers that they write, so each needs fresh data.
  [[nodiscard]] bool has_inout() const { return operation_->operation().has_inout(); }
  /// The operation's counts in the data that the copies hold, in the mean of the copies; waits for it.
  /// Precondition: the copies are filled.
  [[nodiscard]] CudaResult<std::vector<NamedScalar>> counts(cudaStream_t stream) const;
  /// The seed that place `index` draws its data under.
  [[nodiscard]] std::uint64_t seed_of(std::size_t index) const;
  [[nodiscard]] const OperationKernels& operation() const { return *operation_; }
  [[nodiscard]] const OperandLayout& layout() const { return layout_; }
  /// Guards of place `index`: kMaxGuards - 2 at most.
  [[nodiscard]] std::vector<Guard> guards(std::size_t index) const;

 private:
  OperandBuffers(const HelperKernels& kernels, const OperationKernels& operation, const Data& data)
      : kernels_(&kernels), operation_(&operation), data_(data), layout_(operand_layout(operation.operation())) {}
  [[nodiscard]] std::uint64_t copy_address(std::size_t index) const;
  /// One buffer of the guarded set.
  struct Guarded {
    std::string name;  ///< as in GuardZone::place
    bool is_result = false;
    std::size_t buffer = 0;
    GuardedMemory memory;
  };
  [[nodiscard]] bool is_guarded(std::size_t index) const { return index >= copies_.size(); }
  [[nodiscard]] std::vector<Guard> guards_of_copy(std::size_t index) const;
  [[nodiscard]] CudaResult<> fill_pattern(std::size_t index, cudaStream_t stream) const;

  const HelperKernels* kernels_;
  const OperationKernels* operation_;
  Data data_;
  OperandLayout layout_;
  DeviceBuffer memory_;
  std::vector<OperandSet> copies_;
  const L2Sweep* sweep_ = nullptr;
  std::shared_ptr<LaunchMode> mode_ = std::make_shared<LaunchMode>();
  std::vector<Guarded> guarded_;
  std::array<OperandSet, kGuardedPlaces.size()> guarded_sets_{};
};

}  // namespace pgtune::gpu
