// SPDX-License-Identifier: MIT
#include "tuner/search/likeness.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <variant>

namespace pgtune::search {

Likeness::Likeness(const SearchSpace& space) {
  for (const Variant& variant : space.variants) width_ = std::max(width_, variant.parameters.size());
  places_.reserve(space.variants.size() * width_);
  for (std::size_t begin = 0; const std::size_t size : space.template_sizes) {
    add_template(space.variants.subspan(begin, size));
    begin += size;
  }
}

void Likeness::add_template(std::span<const Variant> variants) {
  const std::size_t parameters = variants.empty() ? 0 : variants.front().parameters.size();
  std::vector<std::set<ParameterValue>> values(parameters);
  for (const Variant& variant : variants) {
    for (std::size_t i = 0; i < parameters; ++i) values[i].insert(variant.parameters[i].value);
  }
  Template added;
  for (const auto& own : values) added.is_label.push_back(std::holds_alternative<std::string>(*own.begin()) ? 1 : 0);
  for (const Variant& variant : variants) {
    for (std::size_t i = 0; i < parameters; ++i) {
      const auto rank = std::distance(values[i].begin(), values[i].find(variant.parameters[i].value));
      places_.push_back(static_cast<float>(rank) / static_cast<float>(std::max<std::size_t>(values[i].size() - 1, 1)));
    }
    places_.resize(places_.size() + width_ - parameters);
    template_of_.push_back(templates_.size());
  }
  templates_.push_back(std::move(added));
}

double Likeness::distance(std::size_t a, std::size_t b) const {
  const Template &own = templates_[template_of_[a]], &other = templates_[template_of_[b]];
  if (&own != &other) return std::sqrt(static_cast<double>(std::max(own.is_label.size(), other.is_label.size())));
  const float *one = places_.data() + a * width_, *another = places_.data() + b * width_;
  double squares = 0;
  for (std::size_t i = 0; i < own.is_label.size(); ++i) {
    const double apart = one[i] - another[i];
    squares += own.is_label[i] != 0 ? (apart != 0 ? 1 : 0) : apart * apart;
  }
  return std::sqrt(squares);
}

}  // namespace pgtune::search
