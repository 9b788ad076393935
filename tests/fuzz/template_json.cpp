// SPDX-License-Identifier: MIT
// A template's JSON: parsing, its default variant on a problem, and small spaces as a whole.
#include "tests/fuzz/targets.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::fuzz {
namespace {

constexpr std::size_t kSmallSpace = 4096;

bool is_small(const space::TemplateDefinition& definition) {
  std::size_t points = 1;
  for (const auto& parameter : definition.parameters) {
    points *= parameter.values.size();
    if (points > kSmallSpace) return false;
  }
  return true;
}

}  // namespace

void template_json(std::string_view bytes) {
  const auto any_file = [](const std::string&) -> Result<std::string> { return std::string("// a kernel\n"); };
  const auto definition = space::parse_template(bytes, "fuzz.json", any_file);
  if (!definition) return;
  const Problem problem = space::testing::problem();
  const DeviceInfo device = space::testing::device();
  const Variant variant = definition->default_variant();
  static_cast<void>(space::why_illegal(*definition, variant, problem, device));
  static_cast<void>(space::make_launch_plan(*definition, variant, problem, device));
  static_cast<void>(space::make_defines(*definition, variant, problem, device));
  static_cast<void>(space::parse_variant(*definition, bytes.substr(0, 64)));
  if (is_small(*definition)) static_cast<void>(space::enumerate(*definition, problem, device));
}

}  // namespace pgtune::fuzz
