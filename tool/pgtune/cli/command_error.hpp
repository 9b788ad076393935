// SPDX-License-Identifier: MIT
// The exception that ends a command; only program.cpp catches it, prints it and picks the exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

// The process's exit codes, part of the contract with scripts.

enum class ExitCode : int {
  kDone = 0,
  kNothingValid = 1,  ///< finished, but no variant was valid
  kUsage = 2,
  kEnvironment = 3,  ///< no GPU, toolkit, driver, worker or recording
  kDatabase = 4,
  kPartial = 5,  ///< stopped early with a partial result, without a request; reaching --budget is kDone
  kInternal = 70,
  kInterrupted = 130,  ///< SIGINT
  kTerminated = 143,   ///< SIGTERM
};

/// The worse of two parts' exit codes, in the order: signal, internal error, database, environment, usage, partial
/// result, nothing valid, success.
[[nodiscard]] ExitCode worse(ExitCode a, ExitCode b);

[[nodiscard]] constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return ExitCode::kUsage;
    case ErrorKind::kEnvironment:
      return ExitCode::kEnvironment;
    case ErrorKind::kDatabase:
      return ExitCode::kDatabase;
    case ErrorKind::kInternal:
      return ExitCode::kInternal;
  }
  return ExitCode::kInternal;
}

class CommandError : public std::runtime_error {
 public:
  explicit CommandError(const Error& error) : std::runtime_error(error.text()), kind_(error.kind) {}
  /// `message`: the cause and the remedy, as "<cause>. <remedy>" or "<cause>; <remedy>".
  CommandError(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// The value, or the command ends with the error.
template <typename T>
[[nodiscard]] T value_or_throw(Result<T> result) {
  if (!result) throw CommandError(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace pgtune::tool
