// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/null_verdict.hpp"

#include <fmt/format.h>

#include <string>

namespace pgtune::gpu {
namespace {

tl::unexpected<Error> rejected(const OperationProblem& operation, const std::string& why) {
  return fail(ErrorKind::kUsage,
              fmt::format("the operation '{}' is rejected by its null test: {}", operation.name, why));
}

/// Results that must be wrong: if none of their elements is, the operation is rejected for that reason.
Result<void> require_wrong(const OperationProblem& operation, const Result<std::uint64_t>& wrong,
                           const std::string& why) {
  if (!wrong) return tl::unexpected<Error>(wrong.error());
  if (*wrong == 0) return rejected(operation, why);
  return {};
}

Result<void> require_right_reference(const OperationProblem& operation, NullResults& results) {
  TRY_ASSIGN(const auto unwritten, results.unwritten());
  std::int64_t elements = 0;
  for (const OperationBuffer& buffer : operation.buffers) elements += buffer.is_output() ? buffer.elements() : 0;
  if (unwritten > 0)
    return fail(ErrorKind::kUsage, fmt::format("the reference of the operation '{}' leaves {} of {} elements unwritten",
                                               operation.name, unwritten, elements));
  TRY_ASSIGN(const auto wrong, results.wrong_of_reference());
  if (wrong > 0)
    return rejected(operation, fmt::format("the reference itself, rounded to the outputs' types, does not pass: the "
                                           "error rule is too tight, or the reference writes what its output cannot "
                                           "hold{}",
                                           operation.has_residuals() ? ", or leaves residuals unwritten" : ""));
  return {};
}

/// Each output is made wrong separately, so that a stricter one does not hide it.
Result<void> require_judged_output(const OperationProblem& operation, std::size_t output, NullResults& results) {
  const OperationBuffer& buffer = operation.buffers[output];
  auto zeros =
      require_wrong(operation, results.wrong_where_zero(output),
                    fmt::format("zeros in {} pass: the error rule is too loose for these data, nothing of it is "
                                "judged, or the right result is zero everywhere",
                                buffer.name));
  if (!zeros || buffer.elements() == 1) return zeros;
  return require_wrong(operation, results.wrong_where_shifted(output),
                       fmt::format("{} shifted by one element passes: the error rule is too loose for these data, or "
                                   "the right result is the same everywhere",
                                   buffer.name));
}

/// Integers may be positions of other elements, and zero may be a valid one.
bool is_cut(const OperationBuffer& buffer) {
  return buffer.is_left_alone() && !buffer.pointers && !traits(buffer.type).is_integer();
}

}  // namespace

Result<void> judge_null_results(const OperationProblem& operation, NullResults& results) {
  if (auto right = require_right_reference(operation, results); !right) return right;
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    if (!operation.buffers[i].is_output()) continue;
    if (auto ok = require_judged_output(operation, i, results); !ok) return ok;
  }
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    if (!is_cut(operation.buffers[i])) continue;
    auto ok =
        require_wrong(operation, results.wrong_without_part_of(i),
                      fmt::format("the result of {0} with a sixteenth of it zero passes: the error rule is too loose "
                                  "for these data, or the result does not depend on {0}",
                                  operation.buffers[i].name));
    if (!ok) return ok;
  }
  return {};
}

}  // namespace pgtune::gpu
