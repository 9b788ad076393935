// SPDX-License-Identifier: MIT
// `pgtune report`: the winners beside cuBLASLt in speed, in energy, or under the GPU's roofs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/report/boards_report.hpp"
#include "tool/pgtune/report/power_report.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tool/pgtune/report/roofline_report.hpp"
#include "tool/pgtune/report/speed_report.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

class ReportCommand final : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string description() const override { return "Compare the winners with cuBLASLt in speed and energy"; }
  std::string examples() const override {
    return "pgtune report\n"
           "pgtune report --power --shape 4096x4096x4096\n"
           "pgtune report --boards --on H200\n"
           "pgtune report --roofline --on H200 --source gpu --csv";
  }

  void add_options(CommandLine& app) override {
    filter_.add_to(app);
    app.add_flag("--power", power_, "Watts and joules of winner and cuBLASLt, and the verdict at the same power budget")
        .group("Report");
    app.add_flag("--roofline", roofline_, "This GPU's measured ceilings, and where each winner sits below them")
        .group("Report");
    app.add_flag("--boards", boards_, "Boards of one class side by side: time, ratio and clock of the same variant")
        .group("Report");
    add_json_option(app, json_);
    app.add_flag("--csv", csv_, "Print CSV on standard output, in SI units").group(kOutputGroup);
  }

  ExitCode run(Context& context) override {
    if (power_ + roofline_ + boards_ > 1)
      throw CommandError(ErrorKind::kUsage,
                         "--power, --roofline and --boards are reports of their own. Ask for one at a time.");
    if (json_ && csv_) throw CommandError(ErrorKind::kUsage, "--json and --csv exclude each other. Give one.");
    std::vector<StoredResult> results = boards_ ? filter_.load_boards(context) : filter_.load(context);
    if (power_) take_bench_energy(filter_.open_database(context), results);
    if (roofline_) {
      report_roofline(context, results);
    } else if (boards_) {
      report_boards(context, results);
    } else if (json_) {
      print_json(context, power_ ? power_report_json(results) : speed_report_json(results));
    } else if (csv_) {
      context.terminal().print(power_ ? power_report_csv(results) : speed_report_csv(results));
    } else if (power_) {
      print_power_report(context.terminal(), results);
    } else {
      print_speed_report(context.terminal(), results);
    }
    if (!results.empty()) return ExitCode::kDone;
    context.terminal().error(filter_.nothing_found(context));
    return ExitCode::kNothingValid;
  }

 private:
  void report_roofline(Context& context, const std::vector<StoredResult>& results) const {
    db::Database database = filter_.open_database(context);
    DatabaseStore store(database);
    const std::vector<RooflinePoint> points = roofline(context, store, results);
    if (json_) {
      print_json(context, roofline_report_json(points));
    } else if (csv_) {
      context.terminal().print(roofline_report_csv(points));
    } else {
      print_roofline_report(context.terminal(), results, points);
    }
  }

  void report_boards(Context& context, const std::vector<StoredResult>& results) const {
    if (json_) {
      context.terminal().print(boards_report_json(results).dump(2) + '\n');
    } else if (csv_) {
      context.terminal().print(boards_report_csv(results));
    } else {
      print_boards_report(context.terminal(), results);
    }
  }

  static void print_json(Context& context, json results) {
    const json document = {{"schema", kJsonSchema}, {"results", std::move(results)}};
    context.terminal().print(document.dump(2) + '\n');
  }

  ResultFilter filter_;
  bool power_ = false, roofline_ = false, boards_ = false, json_ = false, csv_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace pgtune::tool
