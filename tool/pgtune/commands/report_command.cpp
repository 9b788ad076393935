// SPDX-License-Identifier: MIT
// `pgtune report`: the winners against cuBLASLt in speed, in energy, or under the GPU's roofs; all of it as a page.
// Also hosts the reports of rooms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/page/page_data.hpp"
#include "tool/pgtune/page/page_writer.hpp"
#include "tool/pgtune/report/boards_report.hpp"
#include "tool/pgtune/report/power_report.hpp"
#include "tool/pgtune/report/result_json.hpp"
#include "tool/pgtune/report/roofline_report.hpp"
#include "tool/pgtune/report/room_report.hpp"
#include "tool/pgtune/report/speed_report.hpp"
#include "tool/pgtune/report/stored_results.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

class ReportCommand final : public Command {
 public:
  explicit ReportCommand(std::vector<RoomReport> reports) {
    for (RoomReport& report : reports) rooms_.push_back({std::move(report)});
  }
  std::string name() const override { return "report"; }
  std::string description() const override { return "Compare the winners with cuBLASLt in speed and energy"; }
  std::string examples() const override {
    return "pgtune report\n"
           "pgtune report --power --shape 4096x4096x4096\n"
           "pgtune report --boards --on H200\n"
           "pgtune report --roofline --on H200 --source gpu --csv\n"
           "pgtune report --against old.db\n"
           "pgtune report --html report.html";
  }

  void add_options(CommandLine& app) override {
    filter_.add_to(app);
    app.add_flag("--power", power_, "Watts and joules of winner and cuBLASLt, and the verdict at equal power")
        .group("Report");
    app.add_flag("--roofline", roofline_, "This GPU's measured ceilings, and where each winner sits below them")
        .group("Report");
    app.add_flag("--boards", boards_, "Compare boards of one class: time, ratio and clock of the same variant")
        .group("Report");
    for (OfRoom& room : rooms_) app.add_flag(option_of(room), room.asked, room.report.description).group("Report");
    app.add_option("--html", html_,
                   "Write a page for any browser, with charts and the details of each problem; - for standard output")
        .option_text("FILE")
        .group("Report");
    app.add_option("--against", against_,
                   "What got faster or slower since this older database; with --html on the page")
        .option_text("FILE")
        .group("Report");
    add_json_option(app, json_);
    app.add_flag("--csv", csv_, "Print CSV on standard output, in SI units").group(kOutputGroup);
    app.show_first({"--db", "--on", "--source", "--shape", "--shapes", "--dtype", "--layout", "--operation", "--size",
                    "--power", "--roofline", "--boards", "--html", "--against", "--json", "--csv"});
  }

  ExitCode run(Context& context) override {
    require_one_form();
    if (!html_.empty()) return write_html(context);
    for (const OfRoom& room : rooms_) {
      if (room.asked) return report_room(context, room);
    }
    std::vector<StoredResult> results = boards_ ? filter_.load_boards(context) : filter_.load(context);
    // Another search of the problem may have the energy.
    if (!boards_ && !power_) results = one_a_problem(std::move(results));
    if (!against_.empty() && !results.empty()) return compare(context, results);
    print_results(context, results);
    if (const std::size_t ranges = filter_.load_families(context).size(); ranges > 0) {
      context.terminal().note(fmt::format("Not in it: {} of M. 'pgtune show' and 'pgtune report --html' have them.",
                                          counted(ranges, "range")));
      return ExitCode::kDone;
    }
    if (!results.empty()) return ExitCode::kDone;
    context.terminal().error(filter_.nothing_found(context));
    return ExitCode::kNothingValid;
  }

 private:
  ExitCode compare(Context& context, const std::vector<StoredResult>& results) const {
    const std::vector<StoredResult> before = one_a_problem(filter_.load_from(context, against_));
    std::vector<ComparedResult> compared = compare_results(before, results);
    if (compared.empty()) {
      context.terminal().error(fmt::format(
          "{} holds none of these problems for such a GPU under the same conditions. Give another database.",
          against_));
      return ExitCode::kNothingValid;
    }
    print_comparison(context.terminal(), std::move(compared));
    return ExitCode::kDone;
  }

  void print_results(Context& context, std::vector<StoredResult>& results) const {
    if (power_) take_energy_of_others(filter_.open_database(context), results);
    if (roofline_) {
      report_roofline(context, results);
    } else if (boards_) {
      report_boards(context, results);
    } else if (json_) {
      print_json(context, power_ ? power_report_json(results) : speed_report_json(results));
    } else if (csv_) {
      context.terminal().print(power_ ? power_report_csv(results) : speed_report_csv(results));
    } else if (power_) {
      print_power_report(context.terminal(), results, filter_.database_option());
    } else {
      print_speed_report(context.terminal(), results);
    }
  }

  void require_one_form() const {
    std::string of_rooms;
    int asked = power_ + roofline_ + boards_ + !html_.empty();
    for (const OfRoom& room : rooms_) {
      of_rooms += ", " + option_of(room);
      asked += room.asked;
      if (room.asked && csv_)
        throw CommandError(ErrorKind::kUsage, option_of(room) + " has no CSV. Give --json, or leave out --csv.");
    }
    if (asked > 1)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--power, --roofline, --boards{} and --html are reports of their own. Ask for one "
                                     "at a time.",
                                     of_rooms));
    if (json_ + csv_ + !html_.empty() > 1)
      throw CommandError(ErrorKind::kUsage, "--json, --csv and --html exclude each other. Give one.");
    if (!against_.empty() && (asked > !html_.empty() || json_ || csv_))
      throw CommandError(ErrorKind::kUsage,
                         "--against compares speeds, as text or on the page. Give it alone or with --html FILE.");
  }

  /// Keys of the problems that several boards of one class measured; the others need not be read twice.
  static std::set<std::string> problems_of_several_boards(const db::Database& database) {
    std::map<std::pair<std::string, std::string>, std::string> board_of;
    std::set<std::string> problems;
    for (const db::SessionRow& session : db::list_sessions(database)) {
      const auto [first, added] =
          board_of.try_emplace({session.device_class, session.problem_key}, session.device_uuid);
      if (first->second != session.device_uuid) problems.insert(session.problem_key);
    }
    return problems;
  }

  ExitCode write_html(Context& context) const {
    std::vector<StoredResult> results = one_a_problem(filter_.load(context));
    const db::Database database = filter_.open_database(context);
    std::vector<PageSection> sections;
    std::size_t held_by_rooms = 0;
    for (const OfRoom& room : rooms_) {
      RoomResults of_room = filter_.of_kernels_alone() ? RoomResults() : room.report.read(database, filter_);
      held_by_rooms += of_room.count;
      sections.push_back({room.report, std::move(of_room)});
    }
    const std::vector<db::FamilyRow> families = filter_.load_families(context);
    if (results.empty() && held_by_rooms == 0 && families.empty()) {
      context.terminal().error(filter_.nothing_found(context));
      return ExitCode::kNothingValid;
    }
    take_energy_of_others(database, results);
    std::vector<StoredResult> before;
    if (!against_.empty()) before = one_a_problem(filter_.load_from(context, against_));
    const std::string name = std::filesystem::path(database.origin()).filename().string();
    const std::vector<StoredResult> boards = filter_.load_boards(context, problems_of_several_boards(database));
    const std::string before_name = std::filesystem::path(against_).filename().string();
    const std::string page = write_page(
        page_data(context, {database, name, results, boards, before, before_name, families, sections}), sections);
    if (html_ == "-") {
      context.terminal().print(page);
      return ExitCode::kDone;
    }
    write_output_file(html_, page);
    std::vector<std::string> held;
    const auto add = [&](std::size_t count, const std::string& noun) {
      if (count > 0) held.push_back(counted(count, noun));
    };
    add(results.size(), "problem");
    if (!families.empty())
      held.push_back(families.size() == 1 ? "1 family" : fmt::format("{} families", families.size()));
    for (const PageSection& section : sections) add(section.results.count, section.report.noun);
    context.terminal().note(
        fmt::format("wrote {}: {}, {} KiB", html_, fmt::join(held, " and "), (page.size() + 1023) / 1024));
    return ExitCode::kDone;
  }

  void report_roofline(Context& context, const std::vector<StoredResult>& results) const {
    const std::vector<RooflinePoint> points = roofline(context, filter_.open_database(context), results);
    if (json_) {
      print_json(context, roofline_report_json(points));
    } else if (csv_) {
      context.terminal().print(roofline_report_csv(points));
    } else {
      print_roofline_report(context.terminal(), results, points);
    }
  }

  /// A room's report, and whether it was requested.
  struct OfRoom {
    RoomReport report;
    bool asked = false;
  };
  [[nodiscard]] static std::string option_of(const OfRoom& room) { return "--" + room.report.name; }

  ExitCode report_room(Context& context, const OfRoom& room) const {
    if (filter_.of_kernels_alone())
      throw CommandError(
          ErrorKind::kUsage,
          fmt::format("--template and --source are of kernels. Leave them out with {}.", option_of(room)));
    const db::Database database = filter_.open_database(context);
    RoomResults results = room.report.read(database, filter_);
    if (json_) {
      print_json(context, std::move(results.json));
    } else {
      context.terminal().print(results.text);
    }
    if (results.count > 0) return ExitCode::kDone;
    context.terminal().error(
        fmt::format("{} holds no {} that matches; {}", database.origin(), room.report.noun, room.report.how_to_get));
    return ExitCode::kNothingValid;
  }

  void report_boards(Context& context, const std::vector<StoredResult>& results) const {
    if (json_) {
      context.terminal().print(boards_report_json(results).dump(2) + '\n');
    } else if (csv_) {
      context.terminal().print(boards_report_csv(results));
    } else {
      print_boards_report(context.terminal(), results, filter_.database_option());
    }
  }

  static void print_json(Context& context, json results) {
    const json document = {{"schema", kJsonSchema}, {"results", std::move(results)}};
    context.terminal().print(document.dump(2) + '\n');
  }

  ResultFilter filter_;
  std::string html_, against_;
  std::vector<OfRoom> rooms_;
  bool power_ = false, roofline_ = false, boards_ = false, json_ = false, csv_ = false;
};

}  // namespace

std::unique_ptr<Command> make_report_command(std::vector<RoomReport> reports) {
  return std::make_unique<ReportCommand>(std::move(reports));
}

}  // namespace pgtune::tool
