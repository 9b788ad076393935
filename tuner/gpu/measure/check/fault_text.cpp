// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/fault_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <vector>

namespace pgtune::gpu {
namespace {

std::string place_of(const OperationProblem& operation, const OperationBuffer& buffer,
                     const std::vector<std::uint64_t>& coordinates) {
  if (buffer.first_index.empty()) return fmt::format("element ({}) of {}", fmt::join(coordinates, ","), buffer.title());
  const std::string text =
      fmt::format("element ({}) of {} {}", fmt::join(coordinates.begin() + 1, coordinates.end(), ","),
                  buffer.first_index, coordinates.front());
  return operation.only_output() == nullptr ? fmt::format("{} of {}", text, buffer.title()) : text;
}

std::string wrong_elements(const CheckFindings& findings, const OperationProblem& operation) {
  const auto [place, operand, offset_bytes, type, bound] = result_element(operation, findings.comparison.first_wrong);
  const std::string count =
      fmt::format("{} of {} elements wrong", findings.comparison.wrong, result_elements(operation));
  if (bound.of_residual != 0) {
    if (findings.first_unwritten) return fmt::format("{} was not written; {}", place, count);
    if (!std::isfinite(findings.first_value)) return fmt::format("{} is {}; {}", place, findings.first_value, count);
    return fmt::format("{} is {:.7g}, which leaves a residual of {:.3g} ({:.3g} times the bound); {}", place,
                       findings.first_value, findings.first_expected, findings.first_ratio, count);
  }
  const int digits = traits(type).is_integer() ? 10 : 7;
  const std::string expected = fmt::format("expected {:.{}g}", findings.first_expected, digits);
  if (findings.first_unwritten) return fmt::format("{} was not written, {}; {}", place, expected, count);
  if (!std::isfinite(findings.first_value)) {
    return fmt::format("{} is {}, {}; {}", place, findings.first_value, expected, count);
  }
  return fmt::format("{} is {:.{}g}, {} (error {:.3g} times the bound); {}", place, findings.first_value, digits,
                     expected, findings.first_ratio, count);
}

}  // namespace

std::int64_t result_elements(const OperationProblem& operation) {
  std::int64_t elements = 0;
  for (const OperationBuffer& buffer : operation.buffers) {
    if (buffer.is_output()) elements += buffer.elements();
  }
  return elements;
}

ResultElement result_element(const OperationProblem& operation, std::uint64_t index) {
  const std::vector<OperationBuffer>& buffers = operation.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const OperationBuffer& buffer = buffers[i];
    if (!buffer.is_output()) continue;
    const auto elements = static_cast<std::uint64_t>(buffer.elements());
    if (index >= elements) {
      index -= elements;
      continue;
    }
    std::vector<std::uint64_t> coordinates(buffer.extents.size());
    std::uint64_t at = 0;
    for (std::size_t d = coordinates.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(buffer.extents[d]);
      coordinates[d] = index % extent;
      index /= extent;
      at += coordinates[d] * static_cast<std::uint64_t>(buffer.strides[d]);
    }
    return {place_of(operation, buffer, coordinates), operand_of_buffer(i),
            at * static_cast<std::uint64_t>(element_bytes(buffer.type)), buffer.type, error_bound(buffer)};
  }
  return {"an element that is none", Operand::kWorkspace, 0, ElementType::kFloat32, {}};
}

CheckReport check_report(const CheckFindings& findings) {
  const Comparison& found = findings.comparison;
  CheckReport report;
  // JSON has neither NaN nor infinities, which errors are where the right value is one and the result is not.
  const auto finite = [](double error) { return std::isfinite(error) ? error : kNotFiniteRatio; };
  report.max_error = finite(std::bit_cast<double>(found.max_ratio_bits));
  report.norm_error = found.squared_error == 0 ? 0 : finite(std::sqrt(found.squared_error / found.squared_reference));
  return report;
}

std::string fault_text(const CheckFindings& findings, const OperationProblem& operation) {
  std::vector<std::string> faults;
  if (findings.comparison.wrong > 0) faults.push_back(wrong_elements(findings, operation));
  const OperationBuffer* const output = operation.only_output();
  const std::string results = output == nullptr ? "its outputs" : output->title();
  if (findings.comparison.padding_changed > 0) {
    faults.push_back(fmt::format(
        "wrote outside {}: {} elements changed in the padding {}", results, findings.comparison.padding_changed,
        output == nullptr || output->padding.empty() ? std::string("between elements") : output->padding));
  }
  for (const ChangedGuard& guard : findings.guards) {
    faults.push_back(fmt::format("wrote outside {}: {} bytes changed in the guard {}",
                                 guard.around_result ? results : "its buffers", guard.bytes, guard.place));
  }
  for (const std::string& operand : findings.changed_operands) faults.push_back("changed " + operand);
  return fmt::format("{}", fmt::join(faults, "; "));
}

}  // namespace pgtune::gpu
