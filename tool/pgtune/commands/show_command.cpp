// SPDX-License-Identifier: MIT
// `pgtune show`: the best variant for each problem in the database.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tool/pgtune/commands.hpp"
#include "tool/pgtune/common_options.hpp"
#include "tool/pgtune/stored_results.hpp"
#include "tool/pgtune/text_table.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

json result_json(const StoredResult& result) {
  const session::BestRecord& best = result.answer.best;
  return {{"problem", result.problem},
          {"device",
           {{"name", result.device.name}, {"uuid", result.device.uuid}, {"driver", result.device.driver_version}}},
          {"source", result.row.source},
          {"finished_at", result.row.finished_at},
          {"complete", result.answer.complete},
          {"template_hash", result.row.template_hash},
          {"best",
           {{"template", best.variant.template_name},
            {"parameters", parameters_to_json(best.variant)},
            {"time_s", best.time_s},
            {"tflops", best.tflops},
            {"ratio_to_reference", best.ratio_to_reference},
            {"ratio_interval", {best.ratio_low, best.ratio_high}},
            {"registers", best.build.registers},
            {"ties", best.ties}}},
          {"reference", {{"first_time_s", best.reference_first_s}, {"best_time_s", best.reference_best_s}}}};
}

class ShowCommand final : public Command {
 public:
  std::string name() const override { return "show"; }
  std::string description() const override { return "Show the best variant found for each problem"; }
  std::string examples() const override {
    return "pgtune show\n"
           "pgtune show --shape 4096x4096x4096 --json";
  }

  void add_options(CLI::App& app) override {
    filter_.add_to(app);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    const std::vector<StoredResult> results = filter_.load(context);
    if (json_) {
      json out = {{"schema", 1}, {"results", json::array()}};
      for (const StoredResult& result : results) out["results"].push_back(result_json(result));
      context.terminal().print(fmt::format("{}\n", out.dump(2)));
    } else {
      for (const StoredResult& result : results) print(context.terminal(), result);
    }
    if (!results.empty()) return ExitCode::kDone;
    context.terminal().error(filter_.nothing_found(context));
    return ExitCode::kNothingValid;
  }

 private:
  static void print(Terminal& terminal, const StoredResult& result) {
    const session::BestRecord& best = result.answer.best;
    terminal.print(fmt::format("{}\n", terminal.styled(Style::kBold, result.problem.title())));
    print_wrapped(terminal, fmt::format("{}{}, driver {}, {}{}", result.device.name,
                                        result.row.source == "replay" ? " (replayed from a recording)" : "",
                                        result.device.driver_version, result.row.finished_at,
                                        result.answer.complete ? "" : ", partial"));
    print_wrapped(terminal, fmt::format("{:.4g} ms  {:.1f} TFLOP/s  {:.3f} of cuBLASLt's best [{:.3f}, {:.3f}]",
                                        best.time_s * 1e3, best.tflops, best.ratio_to_reference, best.ratio_low,
                                        best.ratio_high));
    std::string variant = best.variant.template_name;
    for (const Assignment& parameter : best.variant.parameters)
      variant += fmt::format(" {}={}", parameter.name, to_string(parameter.value));
    print_wrapped(terminal, variant);
    terminal.print("\n");
  }

  /// Two blanks in front of each line, two more where a line goes on.
  static void print_wrapped(Terminal& terminal, const std::string& text) {
    const char* indent = "  ";
    for (const std::string& line : wrap_text(text, kTextWidth - 4)) {
      terminal.print(fmt::format("{}{}\n", indent, line));
      indent = "    ";
    }
  }

  ResultFilter filter_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_show_command() { return std::make_unique<ShowCommand>(); }

}  // namespace pgtune::tool
