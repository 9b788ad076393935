// SPDX-License-Identifier: MIT
#include "tuner/model/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tuner/model/problem_operands.hpp"

namespace pgtune {
namespace {

tl::unexpected<Error> usage(std::string message) { return fail(ErrorKind::kUsage, std::move(message)); }

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
    bool written = false;
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
    for (const bool written : {false, true}) {
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if ((operands[i].buffer.role != BufferRole::kIn) != written) continue;
        if (auto ok = check_operand(index, operands[i].buffer, step.buffers[i]); !ok) return ok;
      }
    }
    return {};
  }

  Result<void> check_operand(std::size_t step, const OperationBuffer& buffer, std::int64_t place) {
    if (place < 0 || place >= std::ssize(chain_.buffers))
      return usage(fmt::format("{}: the chain has no buffer {}", where(step, buffer), place));
    const ChainBuffer& shared = chain_.buffers[static_cast<std::size_t>(place)];
    if (buffer.role == BufferRole::kInOut)
      return usage(
          fmt::format("{}: the operation '{}' changes it in place, which a chain's check cannot follow; use "
                      "an operation that writes another buffer",
                      where(step, buffer), chain_.steps[step].problem.operation->name));
    if (shared.bytes < buffer.bytes())
      return usage(fmt::format("{}: the chain's buffer '{}' has {} bytes, fewer than {}", where(step, buffer),
                               shared.name, shared.bytes, buffer.bytes()));
    const bool writes = buffer.role != BufferRole::kIn;
    const auto [seen, is_new] = uses_.try_emplace(place, Use{step, buffer, writes});
    if (is_new) return {};
    const Use& first = seen->second;
    if (!are_same_elements(first.buffer, buffer))
      return usage(fmt::format("the buffer '{}' is {} to {}, and {} to {}", shared.name, elements_text(first.buffer),
                               where(first.step, first.buffer), elements_text(buffer), where(step, buffer)));
    if (!writes) return {};
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
      if (!step.overlaps || step.problem.operation) continue;
      const std::vector<ProblemOperand> operands = operands_of(step.problem);
      const auto b = std::find_if(operands.begin(), operands.end(),
                                  [](const ProblemOperand& operand) { return operand.operand == Operand::kB; });
      const std::int64_t place = step.buffers[static_cast<std::size_t>(b - operands.begin())];
      if (!uses_.at(place).written) continue;
      return usage(
          fmt::format("step '{}' may overlap the launch before it, and so read its B early, but '{}' is what "
                      "a step writes; take \"overlaps\" away, or make the product with A and B exchanged",
                      step.name, chain_.buffers[static_cast<std::size_t>(place)].name));
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
    const std::vector<ProblemOperand> operands = operands_of(steps[i].problem);
    for (std::size_t j = 0; j < operands.size(); ++j) {
      if (operands[j].buffer.role != BufferRole::kIn && steps[i].buffers[j] == static_cast<std::int64_t>(buffer))
        return i;
    }
  }
  return std::nullopt;
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
