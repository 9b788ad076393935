// SPDX-License-Identifier: MIT
// `pgtune db merge`: several databases into one.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "db/upkeep/merge.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/commands/db/db_commands.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

class MergeCommand final : public Command {
 public:
  std::string name() const override { return "merge"; }
  std::string description() const override { return "Write the results of several databases into a new one"; }
  std::string examples() const override {
    return "pgtune db merge node1.db node2.db -o all.db\n"
           "pgtune db merge all.db node3.db -o new.db && mv new.db all.db";
  }

  void add_options(CommandLine& app) override {
    app.add_option("FILES", inputs_, "Databases to merge, in any order; a session that is in several is taken once")
        .option_text("FILE...")
        .required();
    add_output_option(app, output_);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    require_new_file(output_);
    const db::MergeReport report = db::merge({inputs_.begin(), inputs_.end()}, output_, context.record_checks());
    json inputs = json::array();
    std::int64_t held = 0;
    for (const db::MergedInput& input : report.inputs) {
      inputs.push_back({{"path", input.path.string()}, {"sessions", input.sessions}, {"taken", input.taken}});
      held += input.sessions;
    }
    if (json_)
      context.terminal().print(fmt::format(
          "{}\n", json({{"output", output_}, {"sessions", report.sessions}, {"inputs", std::move(inputs)}}).dump(2)));
    const std::int64_t repeated = held - report.sessions;
    context.terminal().note(fmt::format("wrote {}: {} from {}{}", output_, counted(report.sessions, "session"),
                                        counted(static_cast<std::int64_t>(report.inputs.size()), "file"),
                                        repeated > 0 ? fmt::format("; {} left out", counted(repeated, "repeat")) : ""));
    return ExitCode::kDone;
  }

 private:
  std::vector<std::string> inputs_;
  std::string output_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_db_merge_command() { return std::make_unique<MergeCommand>(); }

}  // namespace pgtune::tool
