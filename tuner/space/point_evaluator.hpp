// SPDX-License-Identifier: MIT
// A template's derived values and values for one variant after another, compiled for a problem. Private to this room.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/space/places.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

class PointEvaluator {
 public:
  /// Further programs may be compiled over names() until prepare() is called.
  PointEvaluator(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device);
  [[nodiscard]] Places& names() { return places_; }
  void prepare() { values_ = places_.memory().values(); }

  /// Sets the parameters and computes derived values and values. False if the variant is not one of the template's or
  /// an expression fails: VariantScope gives the error.
  bool take(const Variant& variant);
  StepProgram::End end_of(const StepProgram& program) { return program.run(values_.data()); }
  bool run(const StepProgram& program) { return end_of(program) == StepProgram::End::kPassed; }
  [[nodiscard]] std::int64_t value(std::uint32_t place) const { return values_[place]; }
  /// One program for each rule of the template's preset.
  [[nodiscard]] std::vector<StepProgram> preset_rules();
  /// The index of the variant's value among the parameter's.
  [[nodiscard]] std::size_t choice(std::size_t parameter) const { return choices_[parameter]; }

 private:
  const TemplateDefinition& definition_;
  Places places_;
  std::vector<std::vector<std::int64_t>> numbers_;  ///< of each parameter's values
  StepProgram program_;
  std::vector<std::int64_t> values_;
  std::vector<std::size_t> choices_;
};

}  // namespace pgtune::space
