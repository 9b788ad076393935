// SPDX-License-Identifier: MIT
// `pgtune db copy`, `merge`, `dump` and `prune`: make databases from others, and remove rows.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "db/upkeep/dump.hpp"
#include "db/upkeep/merge.hpp"
#include "db/upkeep/prune.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/commands/db_commands.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

class MergeCommand final : public Command {
 public:
  std::string name() const override { return "merge"; }
  std::string description() const override { return "Write the results of several databases into a new one"; }
  std::string examples() const override {
    return "pgtune db merge node1.db node2.db -o all.db\n"
           "pgtune db merge all.db node3.db -o new.db";
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
                                        counted(report.inputs.size(), "file"),
                                        repeated > 0 ? fmt::format("; {} left out", counted(repeated, "repeat")) : ""));
    return ExitCode::kDone;
  }

 private:
  std::vector<std::string> inputs_;
  std::string output_;
  bool json_ = false;
};

class CopyCommand final : public Command {
 public:
  std::string name() const override { return "copy"; }
  std::string description() const override { return "Write a compact single-file copy, fit to be used as a recording"; }
  std::string examples() const override { return "pgtune db copy -o recording.db.zst"; }

  void add_options(CommandLine& app) override {
    add_database_option(app, database_);
    add_output_option(app, output_);
  }

  ExitCode run(Context& context) override {
    require_new_file(output_);
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    if (const auto problems = db::damage(database, context.record_checks()); !problems.empty())
      throw db::Error(fmt::format("database {} is damaged ({}). Nothing was copied. Restore it from a copy, or move it "
                                  "aside and search again; 'pgtune db check' lists all that is damaged",
                                  database.origin(), problems.front()),
                      0);
    database.write_compact_copy(output_);
    context.terminal().note(fmt::format("wrote {}", output_));
    return ExitCode::kDone;
  }

 private:
  std::string database_, output_;
};

class DumpCommand final : public Command {
 public:
  std::string name() const override { return "dump"; }
  std::string description() const override {
    return "Print everything as JSON lines, in an order that depends on content only";
  }
  std::string examples() const override {
    return "pgtune db dump > results.jsonl\n"
           "pgtune db dump --db a.db | sha256sum";
  }

  void add_options(CommandLine& app) override { add_database_option(app, database_); }

  ExitCode run(Context& context) override {
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    Terminal& terminal = context.terminal();
    db::dump(database, [&](const std::string& line) {
      terminal.print(line);
      terminal.print("\n");
    });
    return ExitCode::kDone;
  }

 private:
  std::string database_;
};

class PruneCommand final : public Command {
 public:
  std::string name() const override { return "prune"; }
  std::string description() const override { return "Drop sessions that are no longer wanted; --dry-run lists them"; }
  std::string examples() const override {
    return "pgtune db prune --unfinished --dry-run\n"
           "pgtune db prune --keep 3\n"
           "pgtune db prune --keep 1 --any-board --unfinished";
  }

  void add_options(CommandLine& app) override {
    add_database_option(app, database_);
    app.add_option("--keep", keep_,
                   "Keep the N newest measured and finished sessions of each problem, device, template and conditions")
        .option_text("N");
    app.add_flag("--any-board", rules_.any_board,
                 "With --keep: count sessions of all boards of one class of GPU together, for a file with one result "
                 "a problem");
    app.add_flag("--unfinished", rules_.unfinished,
                 "Drop sessions that were killed: unfinished, and nothing written for an hour; later searches lose "
                 "their trials");
    app.add_flag("--recorded", rules_.recorded, "Drop sessions that are recorded answers");
    app.add_flag("--dry-run", dry_run_, "Print what would go, and change nothing");
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    if (!keep_.empty()) rules_.keep_newest = parse_count("--keep", keep_, 0);
    if (!rules_.keep_newest && !rules_.unfinished && !rules_.recorded)
      throw CommandError(
          ErrorKind::kUsage,
          "nothing says what to drop. Give --keep N, --unfinished or --recorded; --dry-run shows what would go.");
    if (rules_.any_board && !rules_.keep_newest)
      throw CommandError(ErrorKind::kUsage, "--any-board says how --keep counts; give --keep N with it.");
    // Reads first: a missing file is not created, and one without such sessions is not written.
    std::vector<db::PrunedSession> pruned =
        db::sessions_to_prune(context.open_database(database_, db::OpenMode::kReadOnly), rules_);
    if (!dry_run_ && !pruned.empty()) {
      db::Database database = context.open_database(database_, db::OpenMode::kReadWriteCreate);
      pruned = db::prune(database, rules_);
    }
    Terminal& terminal = context.terminal();
    terminal.print(json_ ? json_text(pruned) : list_text(pruned, text_width(terminal)));
    context.terminal().note(fmt::format("{} {}{}", dry_run_ ? "would drop" : "dropped",
                                        counted(pruned.size(), "session"),
                                        dry_run_ || pruned.empty() ? "" : "; pgtune db vacuum gives their space back"));
    return ExitCode::kDone;
  }

 private:
  static std::string list_text(const std::vector<db::PrunedSession>& pruned, std::size_t width) {
    constexpr std::size_t kIndent = 2;
    std::string out;
    for (const auto& [session, reason] : pruned) {
      const std::string what = fmt::format("{} with {}: {}", session.problem_key, session.template_name, reason);
      out += fmt::format("{}  {}\n", session.uid, session.started_at);
      for (const std::string& line : wrap_text(what, width - kIndent))
        out += fmt::format("{:{}}{}\n", "", kIndent, line);
    }
    return out;
  }

  [[nodiscard]] std::string json_text(const std::vector<db::PrunedSession>& pruned) const {
    json sessions = json::array();
    for (const auto& [session, reason] : pruned)
      sessions.push_back({{"session", session.uid},
                          {"started_at", session.started_at},
                          {"finished_at", session.finished_at},
                          {"problem", session.problem_key},
                          {"template", session.template_name},
                          {"template_hash", session.template_hash},
                          {"device", session.device_uuid},
                          {"driver_branch", session.driver_branch},
                          {"source", session.recorded ? "recorded" : "gpu"},
                          {"kind", session.kind},
                          {"reason", reason}});
    return fmt::format("{}\n", json({{"dry_run", dry_run_}, {"sessions", std::move(sessions)}}).dump(2));
  }

  std::string database_, keep_;
  db::PruneRules rules_;
  bool dry_run_ = false, json_ = false;
};

}  // namespace

std::vector<std::unique_ptr<Command>> make_db_content_commands() {
  std::vector<std::unique_ptr<Command>> out;
  out.push_back(std::make_unique<CopyCommand>());
  out.push_back(std::make_unique<MergeCommand>());
  out.push_back(std::make_unique<DumpCommand>());
  out.push_back(std::make_unique<PruneCommand>());
  return out;
}

}  // namespace pgtune::tool
