// SPDX-License-Identifier: MIT
// The names that a template has defined so far, and those that an expression may use at its position.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tuner/expression/expression.hpp"
#include "tuner/template/operation_interface.hpp"
#include "tuner/util/json_cursor.hpp"

namespace pgtune::space {

enum class NameKind { kDevice, kTypes, kProblem, kFunction, kParameter, kDerived, kValue, kDefine, kCount };

/// The names that an expression may use besides parameters, facts of the device, the types, and earlier derived values.
enum class Reach {
  kSpace,    ///< no others: derived values and constraints are the same for every problem
  kPolicy,   ///< facts of the problem
  kProblem,  ///< these, and earlier values made from them
  kDefines,  ///< also earlier defines
  kCounts,   ///< facts of the problem, and an operation's counts in the data
};

class KnownNames {
 public:
  /// Facts of the device, of GEMM's problem or the operation's, and functions.
  explicit KnownNames(const OperationInterface* operation = nullptr);
  /// These and functions alone.
  explicit KnownNames(const std::vector<std::pair<std::string, NameKind>>& names);
  /// Adds a name the template defines; a problem at `cursor` when it is malformed, reserved or taken.
  void add(const std::string& name, NameKind kind, const JsonCursor& cursor);
  /// Says which labels `name` may be compared with.
  void set_labels(const std::string& name, std::vector<std::string> labels) { labels_[name] = std::move(labels); }
  /// Names that a later entry will define, for better messages.
  void announce(const std::string& name) { later_.insert(name); }
  /// A fact of the device or of the problem.
  [[nodiscard]] bool is_fact(const std::string& name) const;
  /// Parses the string at `cursor` and checks every name and label in it; the constant 0 after a problem.
  [[nodiscard]] Expression read(const JsonCursor& cursor, Reach reach) const;
  /// The same for a part of the string at `cursor`.
  [[nodiscard]] Expression read(const JsonCursor& cursor, std::string_view text, Reach reach) const;

 private:
  [[nodiscard]] bool usable(const std::string& name, Reach reach) const;
  [[nodiscard]] std::string why_not(const std::string& name, Reach reach) const;

  std::unordered_map<std::string, NameKind> kinds_;
  std::unordered_map<std::string, std::vector<std::string>> labels_;
  std::set<std::string> later_;
};

}  // namespace pgtune::space
