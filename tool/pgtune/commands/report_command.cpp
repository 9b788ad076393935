// SPDX-License-Identifier: MIT
// `pgtune report`: one line a problem, the winner beside cuBLASLt.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tool/pgtune/commands.hpp"
#include "tool/pgtune/common_options.hpp"
#include "tool/pgtune/stored_results.hpp"
#include "tool/pgtune/text_table.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// What the table and the JSON both show of one result.
struct Line {
  const StoredResult* result = nullptr;
  double tflops = 0, percent_of_first = 0, percent_of_best = 0, spread_percent = 0;
};

Line make_line(const StoredResult& result) {
  const session::BestRecord& best = result.answer.best;
  Line line;
  line.result = &result;
  line.tflops = best.tflops;
  // Against the best algorithm the paired ratio of the rounds is shown, never a quotient of two medians; the first
  // heuristic is scaled from it by the two references' medians of the same rounds.
  line.percent_of_best = 100 * best.ratio_to_reference;
  line.percent_of_first =
      best.reference_best_s > 0 ? line.percent_of_best * best.reference_first_s / best.reference_best_s : 0;
  for (const session::RankedVariant& ranked : result.answer.ranking) {
    if (ranked.variant == best.variant) line.spread_percent = 100 * ranked.spread;
  }
  return line;
}

class ReportCommand final : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string description() const override { return "Compare the winners with cuBLASLt, one line a problem"; }
  std::string examples() const override {
    return "pgtune report\n"
           "pgtune report --on H200 --source gpu --json";
  }

  void add_options(CLI::App& app) override {
    filter_.add_to(app);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    const std::vector<StoredResult> results = filter_.load(context);
    std::vector<Line> lines;
    for (const StoredResult& result : results) lines.push_back(make_line(result));
    if (json_) {
      context.terminal().print(fmt::format("{}\n", as_json(lines).dump(2)));
    } else {
      print(context.terminal(), lines);
    }
    if (!results.empty()) return ExitCode::kDone;
    context.terminal().error(filter_.nothing_found(context));
    return ExitCode::kNothingValid;
  }

 private:
  static json as_json(const std::vector<Line>& lines) {
    json out = {{"schema", 1}, {"results", json::array()}};
    for (const Line& line : lines) {
      const session::BestRecord& best = line.result->answer.best;
      out["results"].push_back({{"problem", line.result->problem},
                                {"device", line.result->device.name},
                                {"source", line.result->row.source},
                                {"template", best.variant.template_name},
                                {"tflops", line.tflops},
                                {"percent_of_first", line.percent_of_first},
                                {"percent_of_best", line.percent_of_best},
                                {"percent_of_best_interval", {100 * best.ratio_low, 100 * best.ratio_high}},
                                {"spread_percent", line.spread_percent}});
    }
    return out;
  }

  /// A table for each device, so that every line's numbers are of one GPU.
  static void print(Terminal& terminal, const std::vector<Line>& lines) {
    if (lines.empty()) return;
    std::map<std::string, std::vector<Line>> by_device;
    bool replayed = false;
    for (const Line& line : lines) {
      const StoredResult& result = *line.result;
      by_device[fmt::format("{}, driver {}", result.device.name, result.device.driver_version)].push_back(line);
      replayed = replayed || is_replay(result);
    }
    for (const auto& [device, group] : by_device)
      terminal.print(fmt::format("{}\n{}\n", terminal.styled(Style::kBold, device), table_text(group, replayed)));
    terminal.print(
        "% first, % best: speed against cuBLASLt's first heuristic and its best\n"
        "algorithm, 100 is equal; interval: 95 %, of % best, over the final's rounds;\n"
        "spread: 1.4826 * MAD / median of the winner's blocks, in %.\n"
        "Clocks observed, not locked.\n");
    if (replayed) terminal.print("* replayed from a recording, not measured on this machine\n");
  }

  static bool is_replay(const StoredResult& result) { return result.row.source == "replay"; }

  /// `marks`: leaves room for the mark of replayed results behind the speed.
  static std::string table_text(const std::vector<Line>& lines, bool marks) {
    TextTable table({{"problem", Align::kLeft, true},
                     {"template"},
                     {"TFLOP/s", Align::kRight},
                     {"% first", Align::kRight},
                     {"% best", Align::kRight},
                     {"interval", Align::kRight},
                     {"spread", Align::kRight}});
    for (const Line& line : lines) {
      const session::BestRecord& best = line.result->answer.best;
      const char* const mark = is_replay(*line.result) ? "*" : marks ? " " : "";
      table.add_row({line.result->problem.title(), best.variant.template_name,
                     fmt::format("{:.2f}{}", line.tflops, mark), fmt::format("{:.1f}", line.percent_of_first),
                     fmt::format("{:.1f}", line.percent_of_best),
                     fmt::format("{:.1f}-{:.1f}", 100 * best.ratio_low, 100 * best.ratio_high),
                     fmt::format("{:.2f}", line.spread_percent)});
    }
    return table.text();
  }

  ResultFilter filter_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace pgtune::tool
