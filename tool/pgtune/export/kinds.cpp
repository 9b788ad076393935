// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tool/pgtune/export/cpp_names.hpp"

namespace pgtune::tool {

namespace {

std::vector<Problem> kinds_among(const CallableHeader& content, bool gemms) {
  std::vector<Problem> out;
  for (const ExportedVariant& variant : content.variants) {
    if (variant.problem.is_gemm() != gemms) continue;
    const auto same = [&](const Problem& known) { return known.is_of_kind(variant.problem); };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(variant.problem);
  }
  return out;
}

}  // namespace

std::vector<Problem> gemm_kinds(const CallableHeader& content) { return kinds_among(content, true); }
std::vector<Problem> operation_kinds(const CallableHeader& content) { return kinds_among(content, false); }
bool has_gemms(const CallableHeader& content) { return !gemm_kinds(content).empty(); }

std::vector<Problem> kinds_of(const CallableHeader& content) {
  std::vector<Problem> out = gemm_kinds(content);
  for (Problem& kind : operation_kinds(content)) out.push_back(std::move(kind));
  return out;
}

std::size_t kind_number(const std::vector<Problem>& kinds, const Problem& problem) {
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const Problem& known) { return known.is_of_kind(problem); });
  return static_cast<std::size_t>(found - kinds.begin());
}

std::size_t program_number(const CallableHeader& content, std::size_t entry) {
  const std::vector<Problem> kinds = kinds_of(content);
  const std::size_t gemms = gemm_kinds(content).size();
  // GEMMs of all kinds stand in one list, in the order of the entries.
  const auto place = [&](const Problem& problem) {
    const std::size_t kind = kind_number(kinds, problem);
    return kind < gemms ? 0 : kind;
  };
  const std::size_t own = place(content.entries[entry].problem);
  std::size_t before = 0;
  for (std::size_t i = 0; i < content.entries.size(); ++i) {
    const std::size_t other = place(content.entries[i].problem);
    if (other < own || (other == own && i < entry)) ++before;
  }
  return before;
}

std::string kind_name(const Problem& problem) {
  const OperationProblem& operation = *problem.operation;
  return cpp_name(operation.has_dtypes ? fmt::format("{}_{}", operation.name, to_string(problem.dtype))
                                       : operation.name);
}

}  // namespace pgtune::tool
