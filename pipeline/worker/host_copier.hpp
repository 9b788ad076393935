// SPDX-License-Identifier: MIT
// Copies between host buffers by several threads: one does not keep up with the bus.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace pgtune::gpu {

/// Rows of a matrix to another place; a pitch is bytes from one row to the next.
struct HostCopy {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::int64_t to_pitch = 0, from_pitch = 0;
  std::int64_t row_bytes = 0, rows = 0;
};

class HostCopier {
 public:
  /// `threads`, the caller's included, at least 1.
  explicit HostCopier(int threads);
  HostCopier(const HostCopier&) = delete;
  HostCopier& operator=(const HostCopier&) = delete;
  ~HostCopier();

  /// Returns once all is copied. By one thread at a time.
  void copy(const HostCopy& copy);

 private:
  void work(int index);
  void copy_share(const HostCopy& copy, int index) const;

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  HostCopy job_;
  std::uint64_t jobs_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

/// As many as are worth it: half of the machine's threads, 8 at most.
[[nodiscard]] int default_copy_threads();

}  // namespace pgtune::gpu
