// SPDX-License-Identifier: MIT
#include "tuner/model/pointer_array.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

#include "tuner/model/operation_problem.hpp"

namespace pgtune {
namespace {

/// Of the array's declaration. The largest alignment is that of a buffer.
constexpr std::int64_t kMaxPromise = 256;

tl::unexpected<Error> no_pointers(const OperationBuffer& array, const std::string& why) {
  return fail(ErrorKind::kUsage, fmt::format("pointers {}: {}", array.name, why));
}

/// Each pointer of a run, of which `before` are in front.
Result<void> check_run(const OperationBuffer& array, const PointerRun& run, std::int64_t before,
                       const OperationBuffer& target) {
  const std::int64_t elements = target.stored_elements(), bytes = element_bytes(target.type);
  for (std::int64_t i = 0; i < run.count * run.repeats; ++i) {
    std::int64_t at = 0, within = 0;
    if (__builtin_mul_overflow(i / run.count, run.stride, &at) || __builtin_add_overflow(at, run.first, &at) ||
        __builtin_mul_overflow(i % run.count, run.step, &within) || __builtin_add_overflow(at, within, &at) || at < 0 ||
        at >= elements)
      return no_pointers(array, fmt::format("number {} leads to element {} of {}, which has {}", before + i, at,
                                            target.name, elements));
    if (at * bytes % array.pointers->alignment != 0)
      return no_pointers(array, fmt::format("number {} leads to byte {} of {}, and \"align\" promises a multiple of {}",
                                            before + i, at * bytes, target.name, array.pointers->alignment));
  }
  return {};
}

/// Without repetitions.
std::vector<PointerRun> plain_runs(const std::vector<std::int64_t>& elements) {
  std::vector<PointerRun> runs;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto leads_on = [&](const PointerRun& run) {
      std::int64_t step = 0;
      return !__builtin_sub_overflow(elements[i], elements[i - 1], &step) && (run.count == 1 || run.step == step);
    };
    if (runs.empty() || !leads_on(runs.back())) {
      runs.push_back({elements[i], 0, 1});
      continue;
    }
    runs.back().step = elements[i] - elements[i - 1];
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

std::vector<PointerRun> runs_of(const std::vector<std::int64_t>& elements) {
  std::vector<PointerRun> runs;
  std::int64_t last = 0;  // where the last repetition of the last run begins
  for (const PointerRun& run : plain_runs(elements)) {
    const auto repeats = [&](const PointerRun& before) {
      std::int64_t stride = 0;
      return before.step == run.step && before.count == run.count &&
             !__builtin_sub_overflow(run.first, last, &stride) && (before.repeats == 1 || before.stride == stride);
    };
    if (!runs.empty() && repeats(runs.back())) {
      runs.back().stride = run.first - last;
      ++runs.back().repeats;
    } else {
      runs.push_back(run);
    }
    last = run.first;
  }
  return runs;
}

Result<void> check_pointers(const OperationBuffer& array, const OperationProblem& problem) {
  const PointerArray& pointers = *array.pointers;
  if (array.role != BufferRole::kIn || array.fill != FillKind::kPointers || array.extents.size() != 1)
    return no_pointers(array, "they are an input of one dimension");
  if (pointers.buffer < 0 || pointers.buffer >= std::ssize(problem.buffers))
    return no_pointers(array, "there is no such buffer");
  const OperationBuffer& target = problem.buffers[static_cast<std::size_t>(pointers.buffer)];
  if (target.absent) return no_pointers(array, fmt::format("{} is absent for these sizes", target.name));
  if (target.pointers) return no_pointers(array, fmt::format("{} holds pointers itself", target.name));
  if (target.type != array.type)
    return no_pointers(array, fmt::format("they are to {}, and {} has {}", to_string(array.type), target.name,
                                          to_string(target.type)));
  if (pointers.alignment < 1 || pointers.alignment > kMaxPromise ||
      !std::has_single_bit(static_cast<std::uint64_t>(pointers.alignment)))
    return no_pointers(array,
                       fmt::format("an alignment is a power of two up to {}, not {}", kMaxPromise, pointers.alignment));
  if (pointers.alignment > target.alignment)
    return no_pointers(array, fmt::format("\"align\" promises multiples of {} bytes, and {} begins at one of {} only",
                                          pointers.alignment, target.name, target.alignment));
  if (pointers.runs.size() > kMaxPointerRuns)
    return no_pointers(array,
                       fmt::format("their offsets are {} runs of equal steps, and may be {}; give simpler ones, or "
                                   "let kernels add what they read from a buffer of int32",
                                   pointers.runs.size(), kMaxPointerRuns));
  std::int64_t count = 0;
  for (const PointerRun& run : pointers.runs) {
    if (run.count < 1 || run.count > kMaxPointers - count || run.repeats < 1 ||
        run.repeats > (kMaxPointers - count) / run.count)
      return no_pointers(array, fmt::format("there are 1 to {} of them", kMaxPointers));
    // These numbers are checked nowhere else, and the worker turns them into bytes.
    if ((run.count == 1 && run.step != 0) || (run.repeats == 1 && run.stride != 0))
      return no_pointers(array, "what comes but once has no step");
    if (auto ok = check_run(array, run, count, target); !ok) return ok;
    count += run.count * run.repeats;
  }
  if (count != array.extents[0])
    return no_pointers(array, fmt::format("there are {} of them, in an array of {}", count, array.extents[0]));
  return {};
}

}  // namespace pgtune
