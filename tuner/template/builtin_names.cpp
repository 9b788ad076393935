// SPDX-License-Identifier: MIT
#include "tuner/template/builtin_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace pgtune::space {
namespace {

struct DeviceFact {
  std::string_view name;
  std::int64_t (*value)(const DeviceInfo&);
};

constexpr std::array kDevice{
    DeviceFact{"ARCH", [](const DeviceInfo& d) { return d.arch_number(); }},
    DeviceFact{"SM_COUNT", [](const DeviceInfo& d) { return std::int64_t{d.sm_count}; }},
    DeviceFact{"SMEM_LIMIT", [](const DeviceInfo& d) { return d.smem_per_block_bytes; }},
    DeviceFact{"SMEM_PER_SM", [](const DeviceInfo& d) { return d.smem_per_sm_bytes; }},
    DeviceFact{"REGS_PER_SM", [](const DeviceInfo& d) { return std::int64_t{d.registers_per_sm}; }},
    DeviceFact{"L2_BYTES", [](const DeviceInfo& d) { return d.l2_bytes; }},
};

constexpr std::array<std::string_view, 5> kTypes{"ELEM_BYTES", "OUT_BYTES", "DTYPE", "HAS_BIAS", "ACTIVATION"};

}  // namespace

const std::vector<std::string>& device_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const DeviceFact& fact : kDevice) out.emplace_back(fact.name);
    return out;
  }();
  return names;
}

const std::vector<std::string>& problem_names() {
  static const std::vector<std::string> names = problem_names(Problem{});
  return names;
}

bool is_type_name(const std::string& name) { return std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end(); }

std::vector<std::int64_t> device_values(const DeviceInfo& device) {
  std::vector<std::int64_t> out;
  out.reserve(kDevice.size());
  for (const DeviceFact& fact : kDevice) out.push_back(fact.value(device));
  return out;
}

std::vector<std::string> problem_names(const Problem& problem) {
  std::vector<std::string> out;
  for (const ProblemFact& fact : problem.facts()) out.emplace_back(fact.name);
  return out;
}

std::vector<std::int64_t> problem_values(const Problem& problem) {
  std::vector<std::int64_t> out;
  for (const ProblemFact& fact : problem.facts()) out.push_back(fact.value);
  return out;
}

}  // namespace pgtune::space
