// SPDX-License-Identifier: MIT
// The templates that one search covers as one space. Includes the templates that their operation names as baselines,
// which are not searched.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tuner/space/enumerate.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Identifies a template's version.
struct TemplateId {
  std::string name, content_hash;
  friend bool operator==(const TemplateId&, const TemplateId&) = default;
};

class TemplateSet {
 public:
  /// A set of one.
  TemplateSet(TemplateDefinition definition);  // NOLINT(google-explicit-constructor): one template is a set
  /// Ordered by name; names are unique. Precondition: not empty.
  explicit TemplateSet(std::vector<TemplateDefinition> definitions);

  /// The same templates with presets that leave nothing out; the set itself if none has a preset. The database treats
  /// it as another set, because the best of a preset is not the best of the whole grid. Trials count for both.
  [[nodiscard]] TemplateSet whole_grid() const;
  /// Whether a search of the set is limited by some template's preset.
  [[nodiscard]] bool has_preset() const;
  /// Whether it covers variants outside some template's preset.
  [[nodiscard]] bool goes_beyond_presets() const;
  /// whole_grid().id(), without making the set.
  [[nodiscard]] TemplateId whole_grid_id() const;

  /// The same templates with those that their operation's template baselines name, in the baselines' order.
  [[nodiscard]] TemplateSet compared_with(std::vector<TemplateDefinition> baselines) const;
  [[nodiscard]] const std::vector<TemplateDefinition>& baselines() const { return *baselines_; }

  [[nodiscard]] const std::vector<TemplateDefinition>& definitions() const { return *definitions_; }
  [[nodiscard]] std::vector<TemplateId> ids() const;
  /// Identifies what a search of the set covers: "a+b", and a hash over names, contents and presets. One template
  /// without a preset has its own id.
  [[nodiscard]] const TemplateId& id() const { return id_; }
  /// "a, b"
  [[nodiscard]] std::string title() const;
  /// The template a variant belongs to. Precondition: it is one of the set's.
  [[nodiscard]] const TemplateDefinition& of(const Variant& variant) const;

 private:
  using Definitions = std::shared_ptr<const std::vector<TemplateDefinition>>;  ///< shared by copies: they are large
  Definitions definitions_;
  Definitions baselines_ = std::make_shared<const std::vector<TemplateDefinition>>();
  TemplateId id_;
};

/// enumerate() of each template, one after another; Removal::template_name names each removal's template.
[[nodiscard]] Result<Enumeration> enumerate(const TemplateSet& templates, const Problem& problem,
                                            const DeviceInfo& device);
/// legal_variants() of each template, one after another.
[[nodiscard]] Result<VariantList> legal_variants(const TemplateSet& templates, const Problem& problem,
                                                 const DeviceInfo& device);

}  // namespace pgtune::space
