// SPDX-License-Identifier: MIT
#include "tuner/model/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tuner/model/problem_operands.hpp"

namespace pgtune {
namespace {

tl::unexpected<Error> usage(std::string message) { return fail(ErrorKind::kUsage, std::move(message)); }

enum class Access { kReads, kChanges, kWrites };

Access access_of(BufferRole role) {
  return role == BufferRole::kIn ? Access::kReads : role == BufferRole::kInOut ? Access::kChanges : Access::kWrites;
}

bool has_access(const ChainStep& step, Access access, std::size_t buffer) {
  const std::vector<ProblemOperand> operands = operands_of(step.problem);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (access_of(operands[i].buffer.role) == access && step.buffers[i] == static_cast<std::int64_t>(buffer))
      return true;
  }
  return false;
}

/// Goes through the steps in the order of their launches.
class ChainCheck {
 public:
  explicit ChainCheck(const Chain& chain) : chain_(chain) {}

  Result<void> run() {
    if (chain_.steps.empty() || chain_.steps.size() > kMaxChainSteps)
      return usage(fmt::format("a chain has 1 to {} steps, not {}", kMaxChainSteps, chain_.steps.size()));
    if (chain_.buffers.size() > kMaxChainBuffers)
      return usage(fmt::format("a chain has {} buffers at most, not {}", kMaxChainBuffers, chain_.buffers.size()));
    std::int64_t bytes = 0;
    for (const ChainBuffer& buffer : chain_.buffers) {
      if (buffer.bytes < 1 || __builtin_add_overflow(bytes, buffer.bytes, &bytes))
        return usage(
            fmt::format("the buffer '{}' has {} bytes; together they are none or overflow, so give other sizes",
                        buffer.name, buffer.bytes));
    }
    for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
      if (auto ok = check_step(i); !ok) return ok;
    }
    return check_overlaps();
  }

 private:
  /// Where a buffer was seen first.
  struct Use {
    std::size_t step = 0;
    OperationBuffer buffer;
    bool written = false;  ///< anew
    bool changed = false;  ///< in place, then or later
    std::size_t last = 0;  ///< step that used it
  };

  [[nodiscard]] std::string where(std::size_t step, const OperationBuffer& buffer) const {
    return fmt::format("step '{}', {}", chain_.steps[step].name, buffer.name);
  }

  Result<void> check_step(std::size_t index) {
    const ChainStep& step = chain_.steps[index];
    const std::vector<ProblemOperand> operands = operands_of(step.problem);
    if (step.buffers.size() != operands.size())
      return usage(
          fmt::format("step '{}' has {} buffers, and its problem {}", step.name, step.buffers.size(), operands.size()));
    if (step.problem.chained) return usage(fmt::format("step '{}' is a chain already", step.name));
    // What is read first, so that a step that reads what it writes is told so.
    for (const Access access : {Access::kReads, Access::kChanges, Access::kWrites}) {
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (access_of(operands[i].buffer.role) != access) continue;
        if (auto ok = check_operand(index, operands[i].buffer, step.buffers[i]); !ok) return ok;
      }
    }
    return {};
  }

  Result<void> check_operand(std::size_t step, const OperationBuffer& buffer, std::int64_t place) {
    if (place < 0 || place >= std::ssize(chain_.buffers))
      return usage(fmt::format("{}: the chain has no buffer {}", where(step, buffer), place));
    const ChainBuffer& shared = chain_.buffers[static_cast<std::size_t>(place)];
    if (shared.bytes < buffer.bytes())
      return usage(fmt::format("{}: the chain's buffer '{}' has {} bytes, fewer than {}", where(step, buffer),
                               shared.name, shared.bytes, buffer.bytes()));
    const Access access = access_of(buffer.role);
    const auto [seen, is_new] =
        uses_.try_emplace(place, Use{step, buffer, access == Access::kWrites, access == Access::kChanges, step});
    if (is_new) return {};
    Use& first = seen->second;
    if (first.buffer.pointers || buffer.pointers)
      return usage(
          fmt::format("the buffer '{}' holds pointers into buffers of step '{}' and is used by {} too; leave "
                      "pointers out of \"buffers\", and each step has its own",
                      shared.name, chain_.steps[first.buffer.pointers ? first.step : step].name,
                      first.buffer.pointers ? where(step, buffer) : where(first.step, first.buffer)));
    if (!are_same_elements(first.buffer, buffer))
      return usage(fmt::format("the buffer '{}' is {} to {}, and {} to {}", shared.name, elements_text(first.buffer),
                               where(first.step, first.buffer), elements_text(buffer), where(step, buffer)));
    const std::size_t last = std::exchange(first.last, step);
    if (access == Access::kReads) return {};
    if (access == Access::kChanges) {
      first.changed = true;
      if (last != step) return {};
      return usage(
          fmt::format("step '{}' changes the buffer '{}' in place and has another use for it; give that one "
                      "of its own",
                      chain_.steps[step].name, shared.name));
    }
    if (first.written)
      return usage(fmt::format("the buffer '{}' is written by {} and by {}; give each result a buffer of its own",
                               shared.name, where(first.step, first.buffer), where(step, buffer)));
    return usage(first.step == step
                     ? fmt::format("step '{}' reads and writes the buffer '{}'; give its result one of its own",
                                   chain_.steps[step].name, shared.name)
                     : fmt::format("the buffer '{}' is read by {} before {} writes it; put the steps into the order "
                                   "of their launches",
                                   shared.name, where(first.step, first.buffer), where(step, buffer)));
  }

  [[nodiscard]] Result<void> check_overlaps() const {
    for (const ChainStep& step : chain_.steps) {
      if (!step.overlaps) continue;
      const std::vector<ProblemOperand> operands = operands_of(step.problem);
      for (const ProblemOperand& operand : operands) {
        if (access_of(operand.buffer.role) == Access::kChanges)
          return usage(
              fmt::format("step '{}' changes {} in place, and what it finds there is kept for the check between "
                          "the launch before and its own, so that they cannot overlap; take \"overlaps\" away",
                          step.name, operand.buffer.name));
      }
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!operands[i].may_be_read_early) continue;
        const std::int64_t place = step.buffers[i];
        if (!uses_.at(place).written && !uses_.at(place).changed) continue;
        return usage(
            fmt::format("step '{}' may overlap the launch before it, and so read its {} early, but '{}' is what "
                        "a step writes; take \"overlaps\" away, or make the product with A and B exchanged",
                        step.name, operands[i].buffer.name, chain_.buffers[static_cast<std::size_t>(place)].name));
      }
    }
    return {};
  }

  const Chain& chain_;
  std::map<std::int64_t, Use> uses_;
};

}  // namespace

std::string Chain::title() const {
  std::string text = name;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? " " : ",", sizes[i].name, sizes[i].value);
  return text;
}

std::int64_t Chain::bytes() const {
  std::int64_t sum = 0;
  for (const ChainBuffer& buffer : buffers) sum += buffer.bytes;
  return sum;
}

std::optional<std::size_t> Chain::writer(std::size_t buffer) const {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (has_access(steps[i], Access::kWrites, buffer)) return i;
  }
  return std::nullopt;
}

bool Chain::changes_in_place(std::size_t step, std::size_t buffer) const {
  return has_access(steps[step], Access::kChanges, buffer);
}

std::optional<std::size_t> Chain::next_change(std::size_t buffer, std::size_t step) const {
  for (std::size_t i = step + 1; i < steps.size(); ++i) {
    if (changes_in_place(i, buffer)) return i;
  }
  return std::nullopt;
}

std::vector<std::size_t> Chain::kept_up() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const bool changed = !steps.empty() && (changes_in_place(0, i) || next_change(i, 0));
    if (changed && !writer(i)) out.push_back(i);
  }
  return out;
}

Problem Chain::overlapping_problem(std::size_t step) const {
  Problem problem = steps[step].problem;
  problem.chained = steps[step].overlaps;
  return problem;
}

bool Chain::any_overlaps() const {
  return std::any_of(steps.begin(), steps.end(), [](const ChainStep& step) { return step.overlaps; });
}

Result<void> check_chain(const Chain& chain) { return ChainCheck(chain).run(); }

}  // namespace pgtune
