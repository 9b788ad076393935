// SPDX-License-Identifier: MIT
#include "tuner/template/builtin_names.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "tuner/expression/expression.hpp"

namespace pgtune::space {
namespace {

/// Every buffer starts on at least this boundary; ALIGN_* says nothing about larger ones.
constexpr std::uint64_t kBufferAlignmentBytes = 256;

template <typename Facts>
struct Builtin {
  std::string_view name;
  std::int64_t (*value)(const Facts&);
};

std::int64_t bytes_ab(const Problem& problem) { return element_bytes(problem.dtype); }
std::int64_t bytes_c(const Problem& problem) { return element_bytes(problem.type_of_c()); }

/// The largest power of two up to 256 that divides the byte address of every row of every matrix of the batch.
std::int64_t row_alignment(const Problem& problem, std::int64_t element, std::int64_t leading_dimension,
                           std::int64_t stride) {
  // Wrap-around keeps the low bits, which are all that counts here.
  const auto bytes = static_cast<std::uint64_t>(element);
  std::uint64_t alignment = std::gcd(kBufferAlignmentBytes, static_cast<std::uint64_t>(leading_dimension) * bytes);
  if (problem.batch > 1) alignment = std::gcd(alignment, static_cast<std::uint64_t>(stride) * bytes);
  return static_cast<std::int64_t>(alignment);
}

constexpr std::array kDevice{
    Builtin<DeviceInfo>{"ARCH", [](const DeviceInfo& d) { return d.arch_number(); }},
    Builtin<DeviceInfo>{"SM_COUNT", [](const DeviceInfo& d) { return std::int64_t{d.sm_count}; }},
    Builtin<DeviceInfo>{"SMEM_LIMIT", [](const DeviceInfo& d) { return d.smem_per_block_bytes; }},
    Builtin<DeviceInfo>{"SMEM_PER_SM", [](const DeviceInfo& d) { return d.smem_per_sm_bytes; }},
    Builtin<DeviceInfo>{"REGS_PER_SM", [](const DeviceInfo& d) { return std::int64_t{d.registers_per_sm}; }},
    Builtin<DeviceInfo>{"L2_BYTES", [](const DeviceInfo& d) { return d.l2_bytes; }},
};

constexpr std::array kProblem{
    Builtin<Problem>{"M", [](const Problem& p) { return p.m; }},
    Builtin<Problem>{"N", [](const Problem& p) { return p.n; }},
    Builtin<Problem>{"K", [](const Problem& p) { return p.k; }},
    Builtin<Problem>{"BATCH", [](const Problem& p) { return p.batch; }},
    Builtin<Problem>{"LDA", [](const Problem& p) { return p.lda; }},
    Builtin<Problem>{"LDB", [](const Problem& p) { return p.ldb; }},
    Builtin<Problem>{"LDC", [](const Problem& p) { return p.ldc; }},
    Builtin<Problem>{"STRIDE_A", [](const Problem& p) { return p.stride_a(); }},
    Builtin<Problem>{"STRIDE_B", [](const Problem& p) { return p.stride_b(); }},
    Builtin<Problem>{"STRIDE_C", [](const Problem& p) { return p.stride_c(); }},
    Builtin<Problem>{"TRANS_A", [](const Problem& p) { return std::int64_t{p.trans_a}; }},
    Builtin<Problem>{"TRANS_B", [](const Problem& p) { return std::int64_t{p.trans_b}; }},
    Builtin<Problem>{"ALIGN_A", [](const Problem& p) { return row_alignment(p, bytes_ab(p), p.lda, p.stride_a()); }},
    Builtin<Problem>{"ALIGN_B", [](const Problem& p) { return row_alignment(p, bytes_ab(p), p.ldb, p.stride_b()); }},
    Builtin<Problem>{"ALIGN_C", [](const Problem& p) { return row_alignment(p, bytes_c(p), p.ldc, p.stride_c()); }},
    Builtin<Problem>{"ALPHA_IS_ONE", [](const Problem& p) { return std::int64_t{p.alpha == 1.0}; }},
    Builtin<Problem>{"BETA_IS_ZERO", [](const Problem& p) { return std::int64_t{p.beta == 0.0}; }},
    Builtin<Problem>{"HAS_BIAS", [](const Problem& p) { return std::int64_t{p.epilogue.bias}; }},
    Builtin<Problem>{"ACTIVATION", [](const Problem& p) { return label_value(to_string(p.epilogue.activation)); }},
    Builtin<Problem>{"CHAINED", [](const Problem& p) { return std::int64_t{p.chained}; }},
    Builtin<Problem>{"ELEM_BYTES", bytes_ab},
    Builtin<Problem>{"OUT_BYTES", bytes_c},
    Builtin<Problem>{"DTYPE", [](const Problem& p) { return label_value(to_string(p.dtype)); }},
};
constexpr std::array<std::string_view, 5> kTypes{"ELEM_BYTES", "OUT_BYTES", "DTYPE", "HAS_BIAS", "ACTIVATION"};

template <typename Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> out;
  out.reserve(table.size());
  for (const auto& builtin : table) out.emplace_back(builtin.name);
  return out;
}

}  // namespace

const std::vector<std::string>& device_names() {
  static const std::vector<std::string> names = names_of(kDevice);
  return names;
}

const std::vector<std::string>& problem_names() {
  static const std::vector<std::string> names = names_of(kProblem);
  return names;
}

bool is_type_name(const std::string& name) { return std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end(); }

std::vector<std::int64_t> device_values(const DeviceInfo& device) {
  std::vector<std::int64_t> out;
  out.reserve(kDevice.size());
  for (const auto& builtin : kDevice) out.push_back(builtin.value(device));
  return out;
}

std::vector<ProblemFact> problem_facts(const Problem& problem) {
  std::vector<ProblemFact> out;
  if (problem.is_gemm()) {
    out.reserve(kProblem.size());
    for (const auto& builtin : kProblem) out.push_back({builtin.name, builtin.value(problem)});
  } else {
    out.reserve(problem.operation->values.size());
    for (const NamedValue& entry : problem.operation->values) out.push_back({entry.name, entry.value});
  }
  return out;
}

std::vector<std::string> problem_names(const Problem& problem) {
  std::vector<std::string> out;
  for (const ProblemFact& fact : problem_facts(problem)) out.emplace_back(fact.name);
  return out;
}

std::vector<std::int64_t> problem_values(const Problem& problem) {
  std::vector<std::int64_t> out;
  for (const ProblemFact& fact : problem_facts(problem)) out.push_back(fact.value);
  return out;
}

}  // namespace pgtune::space
