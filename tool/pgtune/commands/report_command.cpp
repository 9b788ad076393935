// SPDX-License-Identifier: MIT
// `pgtune report`: one line a problem, the winner beside cuBLASLt.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

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
      context.terminal().print(as_json(lines).dump(2) + "\n");
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

  static void print(Terminal& terminal, const std::vector<Line>& lines) {
    if (lines.empty()) return;
    TextTable table({{"problem"},
                     {"template"},
                     {"TFLOP/s", Align::kRight},
                     {"% of first", Align::kRight},
                     {"% of best", Align::kRight},
                     {"interval"},
                     {"spread", Align::kRight}});
    std::set<std::string> devices;
    bool replayed = false;
    for (const Line& line : lines) {
      const StoredResult& result = *line.result;
      const session::BestRecord& best = result.answer.best;
      const bool replay = result.row.source == "replay";
      replayed = replayed || replay;
      devices.insert(result.device.name + ", driver " + result.device.driver_version);
      table.add_row({result.problem.title() + (replay ? " *" : ""), best.variant.template_name,
                     fmt::format("{:.2f}", line.tflops), fmt::format("{:.1f}", line.percent_of_first),
                     fmt::format("{:.1f}", line.percent_of_best),
                     fmt::format("[{:.1f}, {:.1f}]", 100 * best.ratio_low, 100 * best.ratio_high),
                     fmt::format("{:.2f} %", line.spread_percent)});
    }
    terminal.print(table.text());
    terminal.print(
        "\n% of first, % of best: speed against cuBLASLt's first heuristic and its best\nalgorithm, 100 is equal; "
        "interval: 95 %, over the rounds of the final; spread:\n1.4826 * MAD / median of the winner's blocks. Clocks "
        "observed, not locked.\n");
    for (const std::string& device : devices) terminal.print(device + "\n");
    if (replayed) terminal.print("* replayed from a recording, not measured on this machine\n");
  }

  ResultFilter filter_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace pgtune::tool
