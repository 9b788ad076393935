// SPDX-License-Identifier: MIT
// The templates one search covers: their spaces are searched as one. With them go the templates that their operation
// names as baselines, which are not searched.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tuner/space/enumerate.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// What tells a template's versions apart.
struct TemplateId {
  std::string name, content_hash;
  friend bool operator==(const TemplateId&, const TemplateId&) = default;
};

class TemplateSet {
 public:
  /// A set of one.
  TemplateSet(TemplateDefinition definition);  // NOLINT(google-explicit-constructor): one template is a set
  /// Ordered by name, in which no two are equal. Precondition: not empty.
  explicit TemplateSet(std::vector<TemplateDefinition> definitions);

  /// The same templates with presets that leave nothing out; the set itself where none has any. It is another set to
  /// the database: what a search of the preset found does not answer for the whole grid. Its trials count for both.
  [[nodiscard]] TemplateSet whole_grid() const;
  /// Whether a search of the set leaves out what some template's preset does.
  [[nodiscard]] bool has_preset() const;
  /// Whether it covers what some template's preset would leave out.
  [[nodiscard]] bool goes_beyond_presets() const;
  /// whole_grid().id(), without the set.
  [[nodiscard]] TemplateId whole_grid_id() const;

  /// The same templates, with what their operation's template baselines name, in the order of these.
  [[nodiscard]] TemplateSet compared_with(std::vector<TemplateDefinition> baselines) const;
  [[nodiscard]] const std::vector<TemplateDefinition>& baselines() const { return *baselines_; }

  [[nodiscard]] const std::vector<TemplateDefinition>& definitions() const { return *definitions_; }
  [[nodiscard]] std::vector<TemplateId> ids() const;
  /// Identifies what a search of the set covers: "a+b", and a hash over their names, contents and presets. Of one
  /// template without a preset its own id.
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

/// enumerate() of each template, one after another; Removal::template_name tells whose a removal is.
[[nodiscard]] Result<Enumeration> enumerate(const TemplateSet& templates, const Problem& problem,
                                            const DeviceInfo& device);
/// legal_variants() of each template, likewise.
[[nodiscard]] Result<VariantList> legal_variants(const TemplateSet& templates, const Problem& problem,
                                                 const DeviceInfo& device);

}  // namespace pgtune::space
