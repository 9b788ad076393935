// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/grid_option.hpp"

#include <utility>

namespace pgtune::tool {

void GridOption::add_to(CommandLine& app) {
  app.add_option("--grid", grid_,
                 "preset (default): what each template's preset holds worth trying; full: every legal variant")
      .option_text("NAME")
      .one_of({"preset", "full"});
}

space::TemplateSet GridOption::of(space::TemplateSet templates) const {
  return grid_ == "full" ? templates.whole_grid() : std::move(templates);
}

}  // namespace pgtune::tool
