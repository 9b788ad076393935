// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/common_options.hpp"

#include <utility>

namespace pgtune::tool {

Option add_database_option(CommandLine& app, std::string& database) {
  return app
      .add_option(
          "--db", database,
          "Database (default: PGTUNE_DB, else the configuration file's, else pgtune/pgtune.db in XDG_DATA_HOME)")
      .option_text("FILE");
}

Option add_template_option(CommandLine& app, std::string& selector) {
  return app.add_option("--template", selector, "A built-in template, or the path of your own template's JSON")
      .option_text("NAME|FILE.json");
}

Option add_device_option(CommandLine& app, std::string& device) {
  return app
      .add_option(
          "--device", device,
          "auto (the first GPU; where there is none, a search prints recorded answers), a GPU's number or UUID, "
          "several of these after commas or all: problems go to whichever is free; recording, or recording:FILE")
      .option_text("DEVICE");
}

Option add_device_or_architecture_option(CommandLine& app, std::string& device) {
  return app
      .add_option("--device", device,
                  "auto, a GPU's number or UUID, recording, recording:FILE, or an architecture such as sm_90a, for "
                  "which no GPU is needed")
      .option_text("DEVICE");
}

Option add_json_option(CommandLine& app, bool& json) {
  return app.add_flag("--json", json, "Print JSON on standard output").group(kOutputGroup);
}

Option GridOption::add_to(CommandLine& app, const std::string& otherwise) {
  return app
      .add_option("--grid", grid_,
                  "preset: what each template's preset holds worth trying; full: every legal variant (default: " +
                      otherwise + ")")
      .option_text("NAME")
      .one_of({"preset", "full"});
}

space::TemplateSet GridOption::of(space::TemplateSet templates, bool beyond) const {
  const bool full = grid_.empty() ? beyond : grid_ == "full";
  return full ? templates.whole_grid() : std::move(templates);
}

}  // namespace pgtune::tool
