// SPDX-License-Identifier: MIT
#include "tuner/space/template_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "tuner/util/hash_text.hpp"

namespace pgtune::space {
namespace {

std::vector<std::string> names(const std::vector<TemplateDefinition>& definitions) {
  std::vector<std::string> out;
  for (const TemplateDefinition& definition : definitions) out.push_back(definition.name);
  return out;
}

TemplateId id_of(const std::vector<TemplateDefinition>& definitions) {
  const TemplateDefinition& first = definitions.front();
  if (definitions.size() == 1 && first.preset_hash.empty()) return {first.name, first.content_hash};
  std::string members;
  for (const TemplateDefinition& definition : definitions)
    members += fmt::format("{} {} {}\n", definition.name, definition.content_hash, definition.preset_hash);
  return {fmt::format("{}", fmt::join(names(definitions), "+")), hash_text(members)};
}

}  // namespace

bool TemplateSet::has_preset() const {
  return std::any_of(definitions_->begin(), definitions_->end(),
                     [](const TemplateDefinition& definition) { return definition.limits_to_preset(); });
}

bool TemplateSet::goes_beyond_presets() const {
  return std::any_of(definitions_->begin(), definitions_->end(), [](const TemplateDefinition& definition) {
    return definition.whole_grid && !definition.preset.empty();
  });
}

TemplateSet TemplateSet::whole_grid() const {
  if (!has_preset()) return *this;
  std::vector<TemplateDefinition> definitions = *definitions_;
  for (TemplateDefinition& definition : definitions) definition.whole_grid = true;
  TemplateSet out(std::move(definitions));
  out.id_ = whole_grid_id();
  out.baselines_ = baselines_;
  return out;
}

TemplateSet TemplateSet::compared_with(std::vector<TemplateDefinition> baselines) const {
  TemplateSet out = *this;
  out.baselines_ = std::make_shared<const std::vector<TemplateDefinition>>(std::move(baselines));
  return out;
}

TemplateId TemplateSet::whole_grid_id() const {
  if (!has_preset() && !goes_beyond_presets()) return id_;
  std::string members;
  for (const TemplateDefinition& definition : *definitions_)
    members += fmt::format("{} {}{}\n", definition.name, definition.content_hash, definition.policy_hash);
  return {id_.name, hash_text(members + "whole grid")};
}

TemplateSet::TemplateSet(TemplateDefinition definition)
    : TemplateSet(std::vector<TemplateDefinition>{std::move(definition)}) {}

TemplateSet::TemplateSet(std::vector<TemplateDefinition> definitions) {
  std::sort(definitions.begin(), definitions.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  id_ = id_of(definitions);
  definitions_ = std::make_shared<const std::vector<TemplateDefinition>>(std::move(definitions));
}

std::vector<TemplateId> TemplateSet::ids() const {
  std::vector<TemplateId> out;
  for (const TemplateDefinition& definition : *definitions_) out.push_back({definition.name, definition.content_hash});
  return out;
}

std::string TemplateSet::title() const { return fmt::format("{}", fmt::join(names(*definitions_), ", ")); }

const TemplateDefinition& TemplateSet::of(const Variant& variant) const {
  for (const TemplateDefinition& definition : *definitions_) {
    if (definition.name == variant.template_name) return definition;
  }
  throw std::logic_error("variant of template '" + variant.template_name + "', which is not in the set " + id_.name);
}

Result<Enumeration> enumerate(const TemplateSet& templates, const Problem& problem, const DeviceInfo& device) {
  Enumeration all;
  for (const TemplateDefinition& definition : templates.definitions()) {
    auto one = enumerate(definition, problem, device);
    if (!one) return one;
    all.space += one->space;
    all.after_constraints += one->after_constraints;
    all.legal += one->legal;
    std::move(one->variants.begin(), one->variants.end(), std::back_inserter(all.variants));
    std::move(one->removals.begin(), one->removals.end(), std::back_inserter(all.removals));
  }
  return all;
}

Result<VariantList> legal_variants(const TemplateSet& templates, const Problem& problem, const DeviceInfo& device) {
  VariantList all;
  for (const TemplateDefinition& definition : templates.definitions()) {
    auto one = legal_variants(definition, problem, device);
    if (!one) return one;
    all.space += one->space;
    std::move(one->variants.begin(), one->variants.end(), std::back_inserter(all.variants));
  }
  return all;
}

}  // namespace pgtune::space
