// SPDX-License-Identifier: MIT
// One pgtune at a time measures on a GPU: two at once spoil each other's times.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

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

}  // namespace pgtune::tool
