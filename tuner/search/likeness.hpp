// SPDX-License-Identifier: MIT
// How similar variants are by their parameters.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuner/search/search_space.hpp"

namespace pgtune::search {

/// A parameter's coordinate is the rank of its value among those in the space, from 0 to 1; all labels are equally far
/// apart. Keeps no reference to its arguments.
class Likeness {
 public:
  explicit Likeness(const SearchSpace& space);

  /// The Euclidean distance. Variants of different templates have the distance of variants that differ in everything.
  /// Precondition: both are indices into the space's variants.
  [[nodiscard]] double distance(std::size_t a, std::size_t b) const;

 private:
  struct Template {
    std::vector<char> is_label;  ///< of each parameter
  };
  void add_template(std::span<const Variant> variants);

  std::size_t width_ = 0;      ///< parameters of the template with the most
  std::vector<float> places_;  ///< of each variant's parameters, width_ a variant
  std::vector<std::size_t> template_of_;
  std::vector<Template> templates_;
};

}  // namespace pgtune::search
