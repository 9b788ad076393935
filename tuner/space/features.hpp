// SPDX-License-Identifier: MIT
// The features from which a model of the time learns: what a template's JSON states about a variant on a problem and a
// device.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// The features of one template's variants on one problem and device. Names are the JSON's, so that templates with
/// equal names share a feature; the template's own name is no feature. Borrows its arguments.
class Features {
 public:
  Features(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device);
  Features(const TemplateDefinition&, const Problem&, const DeviceInfo&&) = delete;
  Features(const TemplateDefinition&, const Problem&&, const DeviceInfo&) = delete;

  /// The features: names of a problem and a device; parameters, with one feature per label; derived values, values and
  /// steps of the cost; CTAs, threads and shared memory of the largest kernel; waves of its CTAs and the fill of the
  /// last wave; bytes through L2; the preset's rules that the variant breaks, unless the search applied them.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  struct Rows {
    std::vector<float> features;               ///< one variant after another, each in the order of the names
    std::vector<std::optional<double>> costs;  ///< if the template has one
  };
  /// Features are numbers as sign(x) log2(1 + |x|). Errors (usage): an expression that fails.
  [[nodiscard]] Result<Rows> of(std::span<const Variant> variants) const;

 private:
  const TemplateDefinition& definition_;
  const Problem& problem_;
  const DeviceInfo& device_;
  std::vector<std::string> names_;
};

}  // namespace pgtune::space
