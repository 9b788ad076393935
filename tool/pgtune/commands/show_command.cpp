// SPDX-License-Identifier: MIT
// `pgtune show`: the best variant for each problem in the database.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "db/queries/queries.hpp"
#include "db/queries/stored_records.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tool/pgtune/report/family_text.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tool/pgtune/report/stored_results.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/session/answer/session_notes.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

json shown_json(const StoredResult& result) {
  return {{"problem", result.problem},
          {"device",
           {{"name", result.device.name},
            {"class", device_class(result.device).text()},
            {"uuid", result.device.uuid},
            {"driver", result.device.driver_version}}},
          {"source", source_word(result)},
          {"conditions", conditions_json(conditions_of(result))},
          {"finished_at", result.row.finished_at},
          {"complete", result.answer.complete},
          {"template_hash", result.row.variant_origin.content_hash},
          {"other_versions", other_versions_json(result.other_versions)},
          {"best", best_json(result.answer, result.problem)},
          {"sampling", to_string(result.answer.sampling)},
          {"noise_margin", result.answer.floor.margin},
          {"notes", result.answer.notes},
          {"baseline",
           {{"library", result.answer.baseline.library},
            {"first_time_s", result.answer.baseline_first_s},
            {"best_time_s", result.answer.baseline_best_s},
            {"copied", result.answer.baseline.copied},
            {"others", result.answer.baseline.others}}}};
}

class ShowCommand final : public Command {
 public:
  std::string name() const override { return "show"; }
  std::string description() const override { return "Show the best variant found for each problem"; }
  std::string examples() const override {
    return "pgtune show\n"
           "pgtune show --shape 4096x4096x4096 --explain\n"
           "pgtune show --shape 4096x4096x4096 --json";
  }

  void add_options(CommandLine& app) override {
    filter_.add_to(app);
    app.add_flag("--explain", explain_,
                 "Explain each verdict step by step, with hardware counters where they were read")
        .group(kOutputGroup);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    const std::vector<StoredResult> results = filter_.load(context);
    const std::vector<db::FamilyRow> families = filter_.load_families(context);
    print_results(context, results, families);
    if (!results.empty() || !families.empty()) return ExitCode::kDone;
    context.terminal().error(filter_.nothing_found(context));
    return ExitCode::kNothingValid;
  }

 private:
  void print_results(Context& context, const std::vector<StoredResult>& results,
                     const std::vector<db::FamilyRow>& families) const {
    const auto device_of = [](const db::FamilyRow& row) {
      return db::record_of<DeviceInfo>(row.device_json, "the device of a family");
    };
    std::optional<db::Database> database;
    if (!results.empty()) database.emplace(filter_.open_database(context));
    if (json_) {
      json out = {{"schema", kJsonSchema}, {"results", json::array()}};
      for (const StoredResult& result : results) {
        json& shown = out["results"].emplace_back(shown_json(result));
        if (const auto counters = stored_counters(*database, result)) shown["counters"] = counters_json(*counters);
      }
      if (!families.empty()) out["families"] = json::array();
      for (const db::FamilyRow& row : families) out["families"].push_back(family_json(row.family, device_of(row)));
      context.terminal().print(fmt::format("{}\n", out.dump(2)));
    } else {
      for (const StoredResult& result : results)
        print(context.terminal(), result, explain_ ? stored_counters(*database, result) : std::nullopt);
      for (const db::FamilyRow& row : families)
        context.terminal().print(family_text(row.family, device_of(row)) + '\n' + family_kernels_text(row.family) +
                                 '\n');
    }
  }

  static std::optional<CounterReport> stored_counters(const db::Database& database, const StoredResult& result) {
    return counters_of(database, result, db::find_ceilings(database, result.device));
  }

  void print(Terminal& terminal, const StoredResult& result, const std::optional<CounterReport>& counters) const {
    const session::RankedVariant& best = result.answer.best();
    terminal.print(fmt::format("{}\n", terminal.styled(Style::kBold, result.problem.title())));
    print_wrapped(terminal, fmt::format("{}{}, driver {}, {}{}", device_class(result.device).hardware(),
                                        result.row.recorded ? " (recorded)" : "", result.device.driver_version,
                                        result.row.finished_at,
                                        result.answer.complete               ? ""
                                        : session::has_enough(result.answer) ? ", ended when it was enough"
                                                                             : ", partial"));
    const Conditions conditions = conditions_of(result);
    print_wrapped(terminal, conditions_text(conditions));
    if (const std::string sampling = sampling_text(result.answer, conditions); !sampling.empty())
      print_wrapped(terminal, sampling);
    print_wrapped(
        terminal,
        fmt::format("{:.4g} ms  {:.{}f} {}  {} of {}'s best", best.time_s * 1e3, result.problem.speed(best.time_s),
                    result.problem.speed_unit() == kFlopsUnit ? 1 : 0, result.problem.speed_unit(),
                    ratio_text(best.ratio_to_baseline, best.ratio_low, best.ratio_high), baseline_name(result.answer)));
    print_wrapped(
        terminal,
        verdict_text(best, result.answer.floor.margin, result.answer.from_final, baseline_name(result.answer)),
        verdict_style(result.answer));
    for (const OtherBaseline& other : result.answer.baseline.others) print_wrapped(terminal, beside_text(other));
    print_wrapped(terminal, "noise: " + noise_text(result.answer.floor));
    std::vector<std::string> notes = result.answer.notes;
    for (std::string& note : session::check_notes(result.problem)) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
    }
    for (const std::string& note : notes) print_wrapped(terminal, "note: " + note);
    if (explain_) {
      for (const std::string& step : explain_verdict(result.answer, conditions))
        print_wrapped(terminal, "why: " + step);
    }
    print_wrapped(terminal, fmt::format("{} {}", best.variant.template_name, best.variant.key()));
    if (!result.other_versions.empty()) print_wrapped(terminal, "version: " + versions_text(result.other_versions));
    if (counters) {
      for (const std::string& reason : counter_reasons(*counters)) print_wrapped(terminal, "counters: " + reason);
    }
    for (const std::string& tie : result.answer.ties) print_wrapped(terminal, "tie: " + tie);
    terminal.print("\n");
  }

  /// Two blanks in front of each line, two more where a line goes on.
  static void print_wrapped(Terminal& terminal, const std::string& text, Style style = Style::kPlain) {
    const char* indent = "  ";
    for (const std::string& line : wrap_text(text, kTextWidth - 4)) {
      terminal.print(fmt::format("{}{}\n", indent, terminal.styled(style, line)));
      indent = "    ";
    }
  }

  ResultFilter filter_;
  bool explain_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_show_command() { return std::make_unique<ShowCommand>(); }

}  // namespace pgtune::tool
