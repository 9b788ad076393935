// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/known_templates.hpp"

namespace pgtune::tool {

KnownTemplates::KnownTemplates(const Catalogue& catalogue) {
  for (const std::string& name : catalogue.all_names()) by_name_.emplace(name, catalogue.load(name));
}

void KnownTemplates::add(const space::TemplateDefinition& definition) {
  // One with the same content may be without its preset here, which would make a model of the same searches another.
  const space::TemplateDefinition* const known = find(definition.name);
  if (known == nullptr || known->content_hash != definition.content_hash)
    by_name_.insert_or_assign(definition.name, definition);
}

const space::TemplateDefinition* KnownTemplates::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? &found->second : nullptr;
}

}  // namespace pgtune::tool
