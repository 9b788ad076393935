// SPDX-License-Identifier: MIT
// The exception that ends a command; only the command line's entry catches it, prints it and picks the exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

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
