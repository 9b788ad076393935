// SPDX-License-Identifier: MIT
// --grid: how much of the templates' spaces a search covers.
#pragma once

#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

class GridOption {
 public:
  void add_to(CommandLine& app);
  /// The templates as chosen: with their presets, or without.
  [[nodiscard]] space::TemplateSet of(space::TemplateSet templates) const;

 private:
  std::string grid_ = "preset";
};

}  // namespace pgtune::tool
