// SPDX-License-Identifier: MIT
// A ring of pinned buffers between pageable operands and the GPU, with helper threads that copy; and the copies of a
// plan, through such rings or straight.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "pipeline/exported/buffers.hpp"

namespace pgtune_pipeline {
namespace detail {

/// Rows of a matrix to another place; a pitch is bytes from one row to the next.
struct RowCopy {
  char* to = nullptr;
  const char* from = nullptr;
  std::size_t to_pitch = 0, from_pitch = 0, row_bytes = 0, rows = 0;
};

/// Copies by several threads: one does not keep up with the bus.
class Copier {
 public:
  /// Half of the machine's threads are worth it, 8 at most.
  Copier() : Copier(std::min(8U, std::max(1U, std::thread::hardware_concurrency() / 2))) {}
  /// `threads`: the caller's included.
  explicit Copier(unsigned threads) {
    for (unsigned index = 1; index < threads; ++index) threads_.emplace_back([this, index] { work(index); });
  }
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;
  ~Copier() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    begin_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Returns once all is copied. By one thread at a time.
  void copy(const RowCopy& copy) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job_ = copy;
      running_ = threads_.size();
      ++jobs_;
    }
    begin_.notify_all();
    share(copy, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    end_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  void work(std::size_t index) {
    for (std::uint64_t done = 0;;) {
      RowCopy job;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        begin_.wait(lock, [&] { return stop_ || jobs_ != done; });
        if (stop_) return;
        done = jobs_;
        job = job_;
      }
      share(job, index);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--running_ == 0) end_.notify_one();
    }
  }
  void share(const RowCopy& copy, std::size_t index) const {
    const std::size_t shares = threads_.size() + 1;
    if (copy.row_bytes == copy.to_pitch && copy.row_bytes == copy.from_pitch) {
      const std::size_t total = copy.row_bytes * copy.rows, first = total / shares * index;
      const std::size_t last = index + 1 == shares ? total : total / shares * (index + 1);
      std::memcpy(copy.to + first, copy.from + first, last - first);
      return;
    }
    for (std::size_t row = copy.rows * index / shares; row < copy.rows * (index + 1) / shares; ++row)
      std::memcpy(copy.to + row * copy.to_pitch, copy.from + row * copy.from_pitch, copy.row_bytes);
  }

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  RowCopy job_;
  std::uint64_t jobs_ = 0;
  std::size_t running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

/// One matrix' slots of the ring.
class Ring {
 public:
  /// May throw what threads and containers throw. `code`: of a CUDA call that failed.
  Status create(std::size_t slots, std::size_t bytes, cudaError_t& code) {
    if ((code = cudaGetDevice(&device_)) != cudaSuccess) return Status::cuda_error;
    slots_ = std::vector<Slot>(slots);
    for (Slot& slot : slots_) {
      const Status status = HostBuffer::allocate(Memory::pinned, Matrix::d, bytes, slot.buffer);
      if (status != Status::ok) return status;
      code = cudaEventCreateWithFlags(slot.copied.out(), cudaEventDisableTiming);
      if (code != cudaSuccess) return Status::cuda_error;
    }
    drainer_ = std::thread([this] { drain_jobs(); });
    return Status::ok;
  }
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (drainer_.joinable()) drainer_.join();
  }

  /// Fills the slot once the copy before from it has ended, and enqueues the copy from there.
  cudaError_t copy_in(std::size_t index, DeviceCopy copy, cudaStream_t stream) {
    Slot& slot = slots_[index];
    if (slot.in_use) {
      if (const cudaError_t code = cudaEventSynchronize(slot.copied.get()); code != cudaSuccess) return code;
    }
    copier_.copy({static_cast<char*>(slot.buffer.data()), static_cast<const char*>(copy.from), copy.row_bytes,
                  copy.from_pitch, copy.row_bytes, copy.rows});
    slot.in_use = true;
    copy.from = slot.buffer.data();
    copy.from_pitch = copy.row_bytes;
    const cudaError_t code = enqueue_copy(copy, stream);
    return code != cudaSuccess ? code : cudaEventRecord(slot.copied.get(), stream);
  }

  /// Enqueues the copy into the slot once that is free; a thread copies it on when it has arrived.
  cudaError_t copy_out(std::size_t index, const DeviceCopy& copy, cudaStream_t stream) {
    Slot& slot = slots_[index];
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return !slot.in_use; });
    }
    DeviceCopy arriving = copy;
    arriving.to = slot.buffer.data();
    arriving.to_pitch = copy.row_bytes;
    cudaError_t code = enqueue_copy(arriving, stream);
    if (code == cudaSuccess) code = cudaEventRecord(slot.copied.get(), stream);
    if (code != cudaSuccess) return code;
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back({&slot,
                     {static_cast<char*>(copy.to), static_cast<const char*>(slot.buffer.data()), copy.to_pitch,
                      copy.row_bytes, copy.row_bytes, copy.rows}});
    slot.in_use = true;
    ++unfinished_;
    changed_.notify_all();
    return cudaSuccess;
  }

  /// Waits until all that was copied out is where it belongs.
  cudaError_t drain() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return unfinished_ == 0; });
    return std::exchange(failure_, cudaSuccess);
  }

 private:
  struct Slot {
    HostBuffer buffer;
    Event copied;
    bool in_use = false;  ///< in: a copy from it was enqueued; out: not copied on yet, under the mutex
  };
  struct Job {
    Slot* slot = nullptr;
    RowCopy copy;
  };

  void drain_jobs() {
    const cudaError_t chosen = cudaSetDevice(device_);
    std::unique_lock<std::mutex> lock(mutex_);
    if (chosen != cudaSuccess) failure_ = chosen;
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const Job job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      const cudaError_t arrived = cudaEventSynchronize(job.slot->copied.get());
      if (arrived == cudaSuccess) copier_.copy(job.copy);
      lock.lock();
      if (arrived != cudaSuccess) failure_ = arrived;
      job.slot->in_use = false;
      --unfinished_;
      changed_.notify_all();
    }
  }

  Copier copier_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int unfinished_ = 0;
  cudaError_t failure_ = cudaSuccess;
  bool stop_ = false;
  int device_ = 0;
  std::thread drainer_;
};

/// The device memory of a plan, and the copies to and from it.
class Transfers {
 public:
  explicit Transfers(const Plan& plan) : plan_(plan), buffers_(plan) {}

  /// May throw what threads and containers throw. `code`: of a CUDA call that failed.
  Status allocate(cudaError_t& code) {
    for (const Matrix matrix : kMatrices) {
      if (!streams(plan_, matrix) || plan_.memory == Memory::mapped) continue;
      code = buffers_.allocate(matrix);
      if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        return code == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::cuda_error;
      }
      if (plan_.memory != Memory::staged) continue;
      rings_[index(matrix)] = std::make_unique<Ring>();
      const Status status = rings_[index(matrix)]->create(slots_of(plan_, matrix), largest_bytes(plan_, matrix), code);
      if (status != Status::ok) return status;
    }
    return Status::ok;
  }

  Chunk chunk_of(const Operands& operands, int number, int lanes) const {
    return buffers_.chunk_of(operands, number, lanes);
  }

  /// One call's copies: steps from `first` to before `end`.
  cudaError_t enqueue(const Operands& operands, const Schedule& schedule, std::size_t first, std::size_t end,
                      cudaStream_t stream) {
    const Step& step = schedule.steps[first];
    if (end - first > 1) {
      std::vector<DeviceCopy> copies;
      for (std::size_t i = first; i < end; ++i) copies.push_back(buffers_.copy_of(operands, schedule.steps[i]));
      return enqueue_batch(copies, stream);
    }
    const DeviceCopy copy = buffers_.copy_of(operands, step);
    Ring* const ring = rings_[index(step.matrix)].get();
    if (ring == nullptr) return enqueue_copy(copy, stream);
    const auto slot = static_cast<std::size_t>(step.slot);
    return step.kind == Kind::copy_in ? ring->copy_in(slot, copy, stream) : ring->copy_out(slot, copy, stream);
  }

  /// Waits until all that was copied out is where it belongs.
  cudaError_t drain() noexcept {
    cudaError_t failed = cudaSuccess;
    for (auto& ring : rings_) {
      if (ring == nullptr) continue;
      const cudaError_t code = ring->drain();
      if (failed == cudaSuccess) failed = code;
    }
    return failed;
  }

 private:
  const Plan& plan_;
  Buffers buffers_;
  std::unique_ptr<Ring> rings_[3];
};

}  // namespace detail
}  // namespace pgtune_pipeline
