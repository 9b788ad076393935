// SPDX-License-Identifier: MIT
// Only one pgtune at a time measures on a GPU: two at once distort each other's times.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "tool/pgtune/cli/context.hpp"
#include "tuner/util/file_descriptor.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// Held by the process, on a file named by the GPU's UUID, and released by any end of the process.
class GpuLock {
 public:
  /// The process that has the lock.
  struct Holder {
    std::optional<pid_t> pid;  ///< nothing: unknown
  };

  /// Takes the lock of the GPU or MIG instance `uuid` if it is free; does not wait. Files in `folder` are accessible to
  /// all users. Error (environment): no file can be created there.
  [[nodiscard]] static Result<std::variant<GpuLock, Holder>> take(const std::filesystem::path& folder,
                                                                  const std::string& uuid);

  GpuLock(GpuLock&&) noexcept = default;
  GpuLock& operator=(GpuLock&&) noexcept = default;
  ~GpuLock();

 private:
  explicit GpuLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

// The lock of a GPU for a command, which reports the holder to its user and may wait.

/// Takes the lock of the GPU `uuid`, named `name` in messages. If another process has it, waits if `wait` is set, until
/// `give_up` returns true, and then returns nothing; without `wait` throws CommandError (environment).
[[nodiscard]] std::optional<GpuLock> lock_gpu(Context& context, const std::string& uuid, const std::string& name,
                                              bool wait, const std::function<bool()>& give_up);

}  // namespace pgtune::tool
