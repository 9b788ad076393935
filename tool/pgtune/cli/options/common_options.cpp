// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/common_options.hpp"

namespace pgtune::tool {

void add_database_option(CommandLine& app, std::string& database) {
  app.add_option("--db", database,
                 "Database (default: PGTUNE_DB, else the configuration file's, else pgtune/pgtune.db in XDG_DATA_HOME)")
      .option_text("FILE");
}

void add_template_option(CommandLine& app, std::string& selector) {
  app.add_option("--template", selector, "A built-in template, or the path of your own template's JSON")
      .option_text("NAME|FILE.json");
}

void add_device_option(CommandLine& app, std::string& device) {
  app.add_option("--device", device,
                 "auto (the first GPU, else the recording), a GPU's number or UUID, replay, or replay:FILE")
      .option_text("DEVICE");
}

void add_json_option(CommandLine& app, bool& json) {
  app.add_flag("--json", json, "Print JSON on standard output").group(kOutputGroup);
}

}  // namespace pgtune::tool
