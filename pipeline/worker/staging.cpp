// SPDX-License-Identifier: MIT
#include "pipeline/worker/staging.hpp"

#include <algorithm>

namespace pgtune::gpu {

Staging::Staging() : in_(default_copy_threads()), out_(default_copy_threads()) {}

CudaResult<std::unique_ptr<Staging>> Staging::create(const pipeline::Schedule& schedule) {
  std::unique_ptr<Staging> staging(new Staging);
  if (auto ok = check(cudaGetDevice(&staging->device_), "asking for the GPU"); !ok) return tl::unexpected(ok.error());
  std::map<Key, std::int64_t> bytes;
  for (const pipeline::Operation& operation : schedule.operations) {
    if (operation.step == pipeline::Step::kCompute) continue;
    std::int64_t& most = bytes[{operation.matrix, operation.slot}];
    most = std::max(most, operation.bytes);
  }
  for (const auto& [key, size] : bytes) {
    auto buffer = HostBuffer::allocate(HostKind::kPinned, size);
    if (!buffer) return tl::unexpected(buffer.error());
    auto event = create_event();
    if (!event) return tl::unexpected(event.error());
    Slot& slot = staging->slots_[key];
    slot.buffer = std::move(*buffer);
    slot.copied = std::move(*event);
  }
  staging->drainer_ = std::thread([raw = staging.get()] { raw->drain_jobs(); });
  return staging;
}

Staging::~Staging() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (drainer_.joinable()) drainer_.join();
}

CudaResult<> Staging::copy_in(const pipeline::Operation& operation, const DeviceCopy& copy, cudaStream_t stream) {
  Slot& slot = slots_.at({operation.matrix, operation.slot});
  if (slot.in_use) {
    if (auto ok = check(cudaEventSynchronize(slot.copied.get()), "waiting for a staging buffer"); !ok) return ok;
  }
  DeviceCopy onward = copy;
  onward.from = slot.buffer.data();
  onward.from_pitch = copy.row_bytes;
  in_.copy({slot.buffer.data(), static_cast<const std::byte*>(copy.from), static_cast<std::int64_t>(copy.row_bytes),
            static_cast<std::int64_t>(copy.from_pitch), static_cast<std::int64_t>(copy.row_bytes),
            static_cast<std::int64_t>(copy.rows)});
  slot.in_use = true;
  return enqueue_copy(onward, stream).and_then([&] {
    return check(cudaEventRecord(slot.copied.get(), stream), "recording an event");
  });
}

CudaResult<> Staging::copy_out(const pipeline::Operation& operation, const DeviceCopy& copy, cudaStream_t stream) {
  Slot& slot = slots_.at({operation.matrix, operation.slot});
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !slot.in_use; });
    slot.in_use = true;
  }
  DeviceCopy arriving = copy;
  arriving.to = slot.buffer.data();
  arriving.to_pitch = copy.row_bytes;
  auto ok = enqueue_copy(arriving, stream).and_then([&] {
    return check(cudaEventRecord(slot.copied.get(), stream), "recording an event");
  });
  const std::lock_guard lock(mutex_);
  if (!ok) {
    slot.in_use = false;
    return ok;
  }
  jobs_.push_back({&slot,
                   {static_cast<std::byte*>(copy.to), slot.buffer.data(), static_cast<std::int64_t>(copy.to_pitch),
                    static_cast<std::int64_t>(copy.row_bytes), static_cast<std::int64_t>(copy.row_bytes),
                    static_cast<std::int64_t>(copy.rows)}});
  ++unfinished_;
  changed_.notify_all();
  return {};
}

void Staging::drain_jobs() {
  const cudaError_t chosen = cudaSetDevice(device_);
  std::unique_lock lock(mutex_);
  if (chosen != cudaSuccess) failure_ = chosen;
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    const cudaError_t arrived = cudaEventSynchronize(job.slot->copied.get());
    if (arrived == cudaSuccess) out_.copy(job.copy);
    lock.lock();
    if (arrived != cudaSuccess) failure_ = arrived;
    job.slot->in_use = false;
    --unfinished_;
    changed_.notify_all();
  }
}

CudaResult<> Staging::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return unfinished_ == 0; });
  return check(failure_, "copying through staging buffers");
}

}  // namespace pgtune::gpu
