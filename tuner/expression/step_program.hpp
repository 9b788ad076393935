// SPDX-License-Identifier: MIT
// Expressions compiled for loops over many points: what is known of the points is folded into them, names are places in
// an array, and steps that follow each other run as one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/expression/expression.hpp"

namespace pgtune::space {

/// The memory of step programs: named places for values, and the programs' temporaries.
class StepMemory {
 public:
  StepMemory();

  /// A new place, with its value where that is the same for all points.
  std::uint32_t add_place(std::optional<std::int64_t> known);
  void set_known(std::uint32_t place, std::int64_t value) { known_[place] = value; }
  /// By place.
  [[nodiscard]] const std::vector<std::optional<std::int64_t>>& known() const { return known_; }

  /// An array for one thread: what is known is there, other places hold 0. Made once all programs are compiled.
  [[nodiscard]] std::vector<std::int64_t> values() const;
  /// The same for StepProgram::hopeless().
  [[nodiscard]] std::vector<Bounds> bounds() const;

 private:
  friend class StepCompiler;
  std::uint32_t constant_place(std::int64_t value);

  std::vector<std::optional<std::int64_t>> known_;
  std::unordered_map<std::int64_t, std::uint32_t> constant_places_;
};

class StepProgram {
 public:
  /// A value to compute, or without a target a rule that must not be zero.
  struct Step {
    Expression expression;
    std::vector<std::uint32_t> places;  ///< of expression.names()
    std::optional<std::uint32_t> target;
  };

  /// Compiles `steps` in order. A target with a value that follows from known ones becomes known to later programs.
  [[nodiscard]] static StepProgram compile(std::span<const Step> steps, StepMemory& memory);

  enum class End { kPassed, kRejected, kFault };
  /// Runs on StepMemory::values() up to the first rule that is zero, or that faults: Expression::evaluate() tells how.
  [[nodiscard]] End run(std::int64_t* values) const;
  /// Whether a rule is certainly zero, on StepMemory::bounds(). False if bounds do not decide it, or a step fails.
  [[nodiscard]] bool hopeless(Bounds* bounds) const;
  /// It does nothing and always passes.
  [[nodiscard]] bool is_empty() const { return code_.size() <= kEnds; }

  /// After folding: the places that are not known and that `expression` depends on, at least once each.
  [[nodiscard]] static std::vector<std::uint32_t> unknown_places(const Expression& expression,
                                                                 std::span<const std::uint32_t> places,
                                                                 const StepMemory& memory);
  /// After folding: its value, where that is the same for all points.
  [[nodiscard]] static std::optional<std::int64_t> known_value(const Expression& expression,
                                                               std::span<const std::uint32_t> places,
                                                               const StepMemory& memory);
  /// After folding: whether bounds of its value can be told whatever is not known.
  [[nodiscard]] static bool has_bounds(const Expression& expression, std::span<const std::uint32_t> places,
                                       const StepMemory& memory);

  struct Instruction {
    std::uint8_t op = 0;  ///< an Op of two operands or one, or one of this program's own
    std::uint32_t a = 0, b = 0;
    std::uint32_t target = 0;  ///< the place of the result, or the instruction to go to
  };

 private:
  friend class StepCompiler;
  static constexpr std::size_t kEnds = 2;  ///< instructions at the end: passed, rejected

  std::vector<Instruction> code_;
};

}  // namespace pgtune::space
