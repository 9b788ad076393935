// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/store_rows.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <string>

#include "tool/pgtune/cli/version.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

/// "Linux 6.1 x86_64". The rest of a kernel's release names the provider's own build, which is nobody's business in a
/// database that is passed on.
std::string host_system() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  const std::string release = names.release;
  const std::size_t minor = release.find('.');
  const std::size_t end = minor == std::string::npos ? minor : release.find_first_not_of("0123456789", minor + 1);
  return fmt::format("{} {} {}", names.sysname, release.substr(0, end), names.machine);
}

}  // namespace

db::Program this_program() { return {kVersion, host_system()}; }

db::ResultKey result_key(const session::StoreKey& key, const space::TemplateId& searched) {
  return {.device_class = device_class(key.device).text(),
          .problem_key = key.problem.key(),
          .template_name = searched.name,
          .template_hash = searched.content_hash,
          .conditions_key = key.conditions.key()};
}

db::VariantRow variant_row(const Variant& variant, const space::TemplateSet& templates) {
  const space::TemplateDefinition& definition = templates.of(variant);
  return {variant.key(), parameters_to_json(variant).dump(), {definition.name, definition.content_hash}};
}

db::TrialRow trial_row(const Variant& variant, const space::TemplateSet& templates, const BuildInfo& build,
                       const TrialReport& report) {
  db::TrialRow row{.variant = variant_row(variant, templates), .build = {}, .report = report};
  if (!build.key_hash.empty() || !build.cubin_hash.empty()) row.build = build;
  return row;
}

db::ContenderRow contender_row(const Contender& contender, const space::TemplateSet& templates) {
  if (const BaselineAlgorithm* const algorithm = algorithm_of(contender)) return *algorithm;
  return variant_row(*variant_of(contender), templates);
}

}  // namespace pgtune::tool
