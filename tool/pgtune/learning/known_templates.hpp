// SPDX-License-Identifier: MIT
// The templates whose recorded variants can be told in features: those that pgtune has, and a user's own at hand.
#pragma once

#include <map>
#include <string>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {

class KnownTemplates {
 public:
  /// Those of GEMM and of the operations that pgtune has, each loaded: not to be done table by table.
  explicit KnownTemplates(const Catalogue& catalogue);

  /// A template at hand, which then stands for its name: a user's own, from a file that nobody else knows.
  void add(const space::TemplateDefinition& definition);

  /// Null where there is none of that name.
  [[nodiscard]] const space::TemplateDefinition* find(const std::string& name) const;
  /// By name.
  [[nodiscard]] const std::map<std::string, space::TemplateDefinition>& all() const { return by_name_; }

 private:
  std::map<std::string, space::TemplateDefinition> by_name_;
};

}  // namespace pgtune::tool
