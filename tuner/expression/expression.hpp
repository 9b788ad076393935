// SPDX-License-Identifier: MIT
// Integer expressions of a template's JSON: constraints, derived values, launch geometry, legality.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::space {

struct ExpressionProgram;

/// Gives names their values during evaluation.
class Scope {
 public:
  virtual ~Scope() = default;
  [[nodiscard]] virtual std::optional<std::int64_t> value(std::string_view name) const = 0;
};

/// What a value lies between. Without a value of its own: evaluation keeps a whole stack of them.
struct Bounds {
  std::int64_t low, high;
  [[nodiscard]] bool exact() const { return low == high; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// A parsed expression: checked 64-bit integers; + - * / % << >> < <= > >= == != && || ! ?: unary -, parentheses,
/// ceil_div(a,b) min(a,b,...) max(a,b,...) round_up(a,multiple) gcd(a,b) abs(a) is_pow2(a), decimal and 0x literals,
/// 'label' literals, names. Comparison and logic give 0 or 1; && || ?: evaluate only what they need. Comparisons do not
/// chain. At most kMaxLength bytes and kMaxDepth nested parts, so any text is safe to parse. Copies share the parsed
/// form.
class Expression {
 public:
  static constexpr std::size_t kMaxLength = 4096;
  static constexpr int kMaxDepth = 64;

  /// The error shows the text with a caret under the offending character.
  [[nodiscard]] static Result<Expression> parse(std::string_view text);

  /// Errors (usage): unknown name, division by zero, overflow, shift out of range; each with the caret.
  [[nodiscard]] Result<std::int64_t> evaluate(const Scope& scope) const;

  /// The same with values by position, for loops over many points: names()[i] has the value values[slots[i]].
  /// Allocates nothing unless it fails.
  [[nodiscard]] Result<std::int64_t> evaluate(std::span<const std::int64_t> values,
                                              std::span<const std::uint32_t> slots) const;

  /// C++17 that computes the value by the functions of exported/checked.hpp and sets the bool `x` where evaluate() is
  /// an error. cpp_names[i] is what names()[i] is called there: an identifier of a std::int64_t.
  [[nodiscard]] std::string cpp(std::span<const std::string> cpp_names) const;

  /// The same with those of its names that `definitions` has replaced by their expressions, whose names it uses
  /// instead. Text and carets remain those of this one. Errors (usage): too much is pending at once.
  [[nodiscard]] Result<Expression> inlined(const std::map<std::string, Expression>& definitions) const;

  /// Names used, in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& names() const;
  /// Byte offset in text() where names()[index] first appears.
  [[nodiscard]] std::size_t name_position(std::size_t index) const;
  [[nodiscard]] const std::string& text() const;

  /// For tuner/expression, which compiles it.
  [[nodiscard]] const ExpressionProgram& program() const { return *program_; }

 private:
  explicit Expression(std::shared_ptr<const ExpressionProgram> program);
  template <typename Load>
  [[nodiscard]] Result<std::int64_t> run(const Load& load) const;

  std::shared_ptr<const ExpressionProgram> program_;
};

}  // namespace pgtune::space
