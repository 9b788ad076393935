// SPDX-License-Identifier: MIT
#include "pipeline/worker/host_copier.hpp"

#include <algorithm>
#include <cstring>

namespace pgtune::gpu {

int default_copy_threads() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 8); }

HostCopier::HostCopier(int threads) {
  for (int index = 1; index < threads; ++index) threads_.emplace_back([this, index] { work(index); });
}

HostCopier::~HostCopier() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HostCopier::copy(const HostCopy& copy) {
  {
    const std::lock_guard lock(mutex_);
    job_ = copy;
    running_ = static_cast<int>(threads_.size());
    ++jobs_;
  }
  begin_.notify_all();
  copy_share(copy, 0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return running_ == 0; });
}

void HostCopier::work(int index) {
  std::uint64_t done = 0;
  for (;;) {
    HostCopy job;
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stop_ || jobs_ != done; });
      if (stop_) return;
      done = jobs_;
      job = job_;
    }
    copy_share(job, index);
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) end_.notify_one();
  }
}

void HostCopier::copy_share(const HostCopy& copy, int index) const {
  const std::int64_t shares = static_cast<std::int64_t>(threads_.size()) + 1;
  if (copy.row_bytes == copy.to_pitch && copy.row_bytes == copy.from_pitch) {
    const std::int64_t total = copy.row_bytes * copy.rows;
    const std::int64_t first = total * index / shares, last = total * (index + 1) / shares;
    std::memcpy(copy.to + first, copy.from + first, static_cast<std::size_t>(last - first));
    return;
  }
  for (std::int64_t row = copy.rows * index / shares; row < copy.rows * (index + 1) / shares; ++row)
    std::memcpy(copy.to + row * copy.to_pitch, copy.from + row * copy.from_pitch,
                static_cast<std::size_t>(copy.row_bytes));
}

}  // namespace pgtune::gpu
