// SPDX-License-Identifier: MIT
// A ring of pinned buffers between pageable operands and the GPU, with helper threads that copy: what a program does
// that cannot pin all it has.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "pipeline/plan/schedule.hpp"
#include "pipeline/worker/device_copy.hpp"
#include "pipeline/worker/host_buffer.hpp"
#include "pipeline/worker/host_copier.hpp"
#include "tuner/gpu/launch/handles.hpp"

namespace pgtune::gpu {

class Staging {
 public:
  /// With a pinned buffer for every matrix and slot that the schedule copies.
  [[nodiscard]] static CudaResult<std::unique_ptr<Staging>> create(const pipeline::Schedule& schedule);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  /// Copies into the operation's buffer once the copy before from it has ended, and enqueues the copy from there.
  [[nodiscard]] CudaResult<> copy_in(const pipeline::Operation& operation, const DeviceCopy& copy, cudaStream_t stream);
  /// Enqueues the copy into the operation's buffer, once that is free, and has a thread copy it on when it has arrived.
  [[nodiscard]] CudaResult<> copy_out(const pipeline::Operation& operation, const DeviceCopy& copy,
                                      cudaStream_t stream);
  /// Waits until all that was copied out is where it belongs.
  [[nodiscard]] CudaResult<> drain();

 private:
  struct Slot {
    HostBuffer buffer;
    Event copied;         ///< of the last copy from or to it
    bool in_use = false;  ///< copy in: its copy was enqueued. Copy out: not copied on yet; under the mutex
  };
  struct Job {
    Slot* slot = nullptr;
    HostCopy copy;
  };
  using Key = std::pair<pipeline::Matrix, int>;

  Staging();
  void drain_jobs();

  HostCopier in_, out_;
  std::map<Key, Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int unfinished_ = 0;
  cudaError_t failure_ = cudaSuccess;
  bool stop_ = false;
  int device_ = 0;
  std::thread drainer_;
};

}  // namespace pgtune::gpu
