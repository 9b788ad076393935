// SPDX-License-Identifier: MIT
// Every name of one variant on one problem, for evaluating launch geometry and defines. Private to this room.
#pragma once

#include <string_view>
#include <unordered_map>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Borrows the definition and the problem.
class VariantScope : public Scope {
 public:
  /// Problem, device and parameters. Errors (usage): a variant or dtype that does not fit.
  [[nodiscard]] static Result<VariantScope> of_facts(const TemplateDefinition& definition, const Variant& variant,
                                                     const Problem& problem, const DeviceInfo& device);
  /// Adds all derived values and values. Errors (usage): the same, or an expression that fails.
  [[nodiscard]] static Result<VariantScope> create(const TemplateDefinition& definition, const Variant& variant,
                                                   const Problem& problem, const DeviceInfo& device);

  [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const override;
  /// `name` must outlive the scope.
  void set(std::string_view name, std::int64_t value) { values_[name] = value; }

 private:
  std::unordered_map<std::string_view, std::int64_t> values_;
};

}  // namespace pgtune::space
