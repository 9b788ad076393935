// SPDX-License-Identifier: MIT
// What a model of the time learns from: what a template's JSON states of a variant on a problem and a device.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// The features of one template's variants on one problem and device. Names are the JSON's, so that templates that call
/// the same thing alike share a feature; the template's own name is none. Borrows what it is made of.
class Features {
 public:
  Features(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device);
  Features(const TemplateDefinition&, const Problem&, const DeviceInfo&&) = delete;
  Features(const TemplateDefinition&, const Problem&&, const DeviceInfo&) = delete;

  /// Names of a problem and a device; parameters, a label each its own; derived values, values and steps of the cost;
  /// CTAs, threads and shared memory of the largest kernel, waves of its CTAs and how full the last is, bytes through
  /// L2; which rules of the preset the variant breaks, where it was not searched with them too.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  struct Rows {
    std::vector<float> features;               ///< a variant's in the order of the names, then the next one's
    std::vector<std::optional<double>> costs;  ///< where the template has one
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
