// SPDX-License-Identifier: MIT
// One pgtune at a time measures on a GPU: two at once spoil each other's times.
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

/// Held by the process, on a file of the GPU's UUID, until it lives no longer: whatever ends the process ends the lock.
class GpuLock {
 public:
  /// Who has the lock.
  struct Holder {
    std::optional<pid_t> pid;  ///< nothing: it did not say
  };

  /// Takes the lock of the GPU or MIG instance `uuid` where nobody has it; does not wait. Files in `folder` are made
  /// for users of any kind. Error (environment): no file can be made there.
  [[nodiscard]] static Result<std::variant<GpuLock, Holder>> take(const std::filesystem::path& folder,
                                                                  const std::string& uuid);

  GpuLock(GpuLock&&) noexcept = default;
  GpuLock& operator=(GpuLock&&) noexcept = default;
  ~GpuLock();

 private:
  explicit GpuLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

// The lock of a GPU for a command, which tells its user who has it and may wait.

/// Takes the lock of the GPU `uuid`, in messages `name`. Where another process has it, waits with `wait` until
/// `give_up` says that it is not worth it any more, which gives nothing; else throws CommandError (environment).
[[nodiscard]] std::optional<GpuLock> lock_gpu(Context& context, const std::string& uuid, const std::string& name,
                                              bool wait, const std::function<bool()>& give_up);

}  // namespace pgtune::tool
