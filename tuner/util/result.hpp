// SPDX-License-Identifier: MIT
// The one error type of fallible steps. A variant's failure is never an Error: it is an Outcome (outcome.hpp).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace pgtune {

/// The kind of remedy; the command line maps it to an exit code (usage 2, environment 3, database 4).
enum class ErrorKind { kUsage, kEnvironment, kDatabase, kInternal };

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;               ///< the cause, and the remedy if there is one
  std::vector<std::string> context;  ///< the actions that failed, innermost first

  /// "outermost: ...: innermost: message".
  [[nodiscard]] std::string text() const {
    std::string out;
    for (auto it = context.rbegin(); it != context.rend(); ++it) out += *it + ": ";
    return out + message;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message), {}});
}

/// Adds "while doing this" to an error on its way up.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error, std::string context) {
  error.context.push_back(std::move(context));
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace pgtune

// Both evaluate a Result, or another tl::expected, and return its error, if any, from the enclosing function:
//
//   TRY(check(options));
//   TRY_ASSIGN(const auto text, read(path));
#define TRY(...)                                                                             \
  do {                                                                                       \
    if (auto tried = (__VA_ARGS__); !tried) return tl::unexpected(std::move(tried).error()); \
  } while (false)
#define TRY_ASSIGN(declaration, ...) PGTUNE_TRY_ASSIGN(PGTUNE_TRY_NAME(tried_, __LINE__), declaration, __VA_ARGS__)
#define PGTUNE_TRY_ASSIGN(tried, declaration, ...)             \
  auto tried = (__VA_ARGS__);                                  \
  if (!tried) return tl::unexpected(std::move(tried).error()); \
  declaration = *std::move(tried)
#define PGTUNE_TRY_NAME(prefix, line) PGTUNE_TRY_NAME_OF(prefix, line)
#define PGTUNE_TRY_NAME_OF(prefix, line) prefix##line
