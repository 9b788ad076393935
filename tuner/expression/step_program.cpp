// SPDX-License-Identifier: MIT
// Running compiled steps, on values and on bounds.
#include "tuner/expression/step_program.hpp"

#include "tuner/expression/arithmetic.hpp"
#include "tuner/expression/bounds_arithmetic.hpp"
#include "tuner/expression/step_compiler.hpp"

namespace pgtune::space {

StepMemory::StepMemory() : known_(StepCompiler::kTemporaries) {}

std::uint32_t StepMemory::add_place(std::optional<std::int64_t> known) {
  known_.push_back(known);
  return static_cast<std::uint32_t>(known_.size() - 1);
}

std::uint32_t StepMemory::constant_place(std::int64_t value) {
  const auto found = constant_places_.find(value);
  return found != constant_places_.end() ? found->second
                                         : constant_places_.emplace(value, add_place(value)).first->second;
}

std::vector<std::int64_t> StepMemory::values() const {
  std::vector<std::int64_t> out;
  out.reserve(known_.size());
  for (const auto& value : known_) out.push_back(value.value_or(0));
  return out;
}

std::vector<Bounds> StepMemory::bounds() const {
  std::vector<Bounds> out;
  for (const std::int64_t value : values()) out.push_back({value, value});
  return out;
}

StepProgram::End StepProgram::run(std::int64_t* values) const {
  const Instruction* const code = code_.data();
  const Instruction* at = code;
  while (true) {
    const Instruction& instruction = *at++;
    const std::int64_t a = values[instruction.a], b = values[instruction.b];
    bool jumps = false;
    switch (instruction.op) {
      case StepCompiler::kPass:
        return End::kPassed;
      case StepCompiler::kReject:
        return End::kRejected;
      case StepCompiler::kMove:
        values[instruction.target] = a;
        continue;
      case StepCompiler::kGo:
        jumps = true;
        break;
      case StepCompiler::kGoIfZero:
        jumps = a == 0;
        break;
      case StepCompiler::kGoIfNotZero:
        jumps = a != 0;
        break;
      case StepCompiler::code_of(Op::kAdd):
        if (__builtin_add_overflow(a, b, &values[instruction.target])) return End::kFault;
        continue;
      case StepCompiler::code_of(Op::kSubtract):
        if (__builtin_sub_overflow(a, b, &values[instruction.target])) return End::kFault;
        continue;
      case StepCompiler::code_of(Op::kMultiply):
        if (__builtin_mul_overflow(a, b, &values[instruction.target])) return End::kFault;
        continue;
      case StepCompiler::code_of(Op::kEqual):
        values[instruction.target] = a == b;
        continue;
      case StepCompiler::code_of(Op::kNotEqual):
        values[instruction.target] = a != b;
        continue;
      case StepCompiler::go_unless(Op::kLess):
        jumps = !(a < b);
        break;
      case StepCompiler::go_unless(Op::kLessEqual):
        jumps = !(a <= b);
        break;
      case StepCompiler::go_unless(Op::kGreater):
        jumps = !(a > b);
        break;
      case StepCompiler::go_unless(Op::kGreaterEqual):
        jumps = !(a >= b);
        break;
      case StepCompiler::go_unless(Op::kEqual):
        jumps = a != b;
        break;
      case StepCompiler::go_unless(Op::kNotEqual):
        jumps = a == b;
        break;
      default: {
        const Op op = static_cast<Op>(instruction.op);
        std::int64_t& out = values[instruction.target];
        const Fault fault = op < Op::kMultiply ? apply_unary(op, a, out) : apply_binary(op, a, b, out);
        if (fault != Fault::kNone) return End::kFault;
        continue;
      }
    }
    if (jumps) at = code + instruction.target;
  }
}

bool StepProgram::hopeless(Bounds* bounds) const {
  for (std::size_t at = 0;;) {
    const Instruction& instruction = code_[at++];
    const Bounds a = bounds[instruction.a], b = bounds[instruction.b];
    if (instruction.op == StepCompiler::kPass) return false;
    if (instruction.op == StepCompiler::kReject) return true;
    if (instruction.op == StepCompiler::kMove) {
      bounds[instruction.target] = a;
      continue;
    }
    if (StepCompiler::is_jump(instruction.op)) {
      bool jumps = true;
      if (instruction.op == StepCompiler::kGoIfZero || instruction.op == StepCompiler::kGoIfNotZero) {
        const Bounds zero = equal_bounds(a, {0, 0});
        if (!zero.exact()) return false;
        jumps = (zero.low != 0) == (instruction.op == StepCompiler::kGoIfZero);
      } else if (instruction.op != StepCompiler::kGo) {
        const Op op = StepCompiler::comparison_of(instruction.op);
        const auto holds = binary_bounds(op, a, b);
        if (!holds || !holds->exact()) return false;
        jumps = holds->low == 0;
      }
      if (jumps) at = instruction.target;
      continue;
    }
    const Op op = static_cast<Op>(instruction.op);
    const auto result = op < Op::kMultiply ? unary_bounds(op, a) : binary_bounds(op, a, b);
    if (!result) return false;
    bounds[instruction.target] = *result;
  }
}

}  // namespace pgtune::space
