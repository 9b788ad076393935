// SPDX-License-Identifier: MIT
// `pgtune slurm`: writes a job array of searches for a cluster under Slurm, and the merge after it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/options/shape_list.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/cluster/slurm_script.hpp"
#include "tool/pgtune/commands/search_options.hpp"
#include "tuner/session/expected_search.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The share of the time limit to plan for, as work may take longer than expected.
constexpr double kShareOfLimit = 0.6;

std::vector<SlurmTask> divide(const SearchRequest& search, std::size_t gpus, std::size_t cpus,
                              std::optional<double> limit_s) {
  std::vector<double> expected_s;
  double total_s = 0;
  for (const Problem& problem : search.problems) {
    expected_s.push_back(
        session::expected_search(problem, search.session, search.jobs != 0 ? search.jobs : cpus).seconds);
    total_s += expected_s.back();
  }
  std::size_t count = gpus;
  if (limit_s) {
    const double room_s = std::max(kShareOfLimit * *limit_s - session::kExpectedOpening_s, 1.0);
    count = std::max(count, static_cast<std::size_t>(std::ceil(total_s / room_s)));
  }
  std::vector<SlurmTask> tasks;
  for (const Chunk& chunk : balanced_chunks(expected_s, count)) {
    SlurmTask& task = tasks.emplace_back();
    task.expected_s = session::kExpectedOpening_s + chunk.expected_s;
    for (const std::size_t item : chunk.items) task.problems.push_back(listed(search.problems[item]).line);
  }
  return tasks;
}

double longest_s(const std::vector<SlurmTask>& tasks) {
  double longest = 0;
  for (const SlurmTask& task : tasks) longest = std::max(longest, task.expected_s);
  return longest;
}

json plan_json(const SlurmJob& job) {
  json tasks = json::array();
  for (const SlurmTask& task : job.tasks)
    tasks.push_back({{"problems", task.problems}, {"expected_s", task.expected_s}});
  return {{"schema", kJsonSchema},    {"script", job.script},      {"folder", job.folder},
          {"gpus", job.request.gpus}, {"tasks", std::move(tasks)}, {"search_options", job.search_options}};
}

std::string tasks_text(const SlurmJob& job) {
  std::string out;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    out += fmt::format("task {}: about {}\n", i, duration_text(job.tasks[i].expected_s));
    for (const std::string& problem : job.tasks[i].problems)
      out += fmt::format("  {}\n", fmt::join(wrap_text(problem, kTextWidth - 4), "\n    "));
  }
  return out;
}

class SlurmCommand final : public Command {
 public:
  std::string name() const override { return "slurm"; }
  std::string description() const override { return "Write a job array that searches on a cluster, and its merge"; }
  std::string examples() const override {
    return "pgtune slurm --shapes shapes.txt --gpus 8 --time 04:00:00 -o job.sh\n"
           "pgtune slurm --shapes s.txt --dtype bf16 --variants 200 --gpus 32 -o job.sh\n"
           "pgtune slurm --shapes s.txt --gpus 8 --folder /shared/tune -o job.sh\n"
           "bash job.sh           # submits it; again after failures\n"
           "bash job.sh status    # where each task stands";
  }

  void add_options(CommandLine& app) override {
    search_->add_options(app);
    // Each task has its own database and a part of the list; with --force a restarted task would measure everything
    // again.
    for (const char* name : {"--db", "--force", "--total", "--dry-run", "--kernels", "--probes", "--batch-invariant"})
      app.remove_option(name);
    searched_ = app.options();
    app.option("--device")
        .description("0 (default): the GPU that Slurm gives the task; recording, or recording:FILE")
        .complete_with({"0", "recording"});
    app.option("--jobs").description("Compile workers of a task (default: its cores)");
    const auto add = [&](const char* name, auto& target, const char* text, const char* description) {
      return app.add_option(name, target, description).option_text(text).group("Cluster");
    };
    add("--gpus", gpus_, "N", "GPUs to search on at once; each has a task at a time").required();
    add("--folder", folder_, "DIR", "Where results go; all nodes share it (default: the script's name without ending)");
    add("--time", request_.time, "TIME",
        "Limit of a task, as sbatch takes it (02:00:00); more tasks where they need it");
    add("--partition", request_.partition, "NAME", "Partition of the tasks");
    add("--merge-partition", request_.merge_partition, "NAME",
        "Partition of the merge, which needs no GPU (default: the same)");
    add("--account", request_.account, "NAME", "Account to charge");
    add("--gpu-type", request_.gpu_type, "NAME", "GPUs of this type only, by the cluster's name for it, such as h200");
    add("--cpus", request_.cpus, "N", "Cores of a task, for compiling (default: 8)");
    add("--sbatch", request_.more, "OPTION", "Any other option of sbatch, for the tasks, such as --mem=32G; repeatable")
        .one_value_each();
    app.add_flag("--dry-run", dry_run_, "Print how the problems would be divided, and write nothing").group("Cluster");
    app.add_option("-o,--output", output_, "Script to write; required except with --dry-run")
        .option_text("FILE")
        .group(kOutputGroup);
    app.show_first({"--shape", "--shapes", "--dtype", "--layout", "--epilogue", "--operation", "--size", "--budget",
                    "--effort", "--gpus", "--folder", "--time", "--partition", "--account", "--gpu-type", "--cpus",
                    "--sbatch", "--dry-run", "--output"});
  }

  ExitCode run(Context& context) override {
    const SlurmJob job = plan(context);
    const std::string text = value_or_throw(slurm_script(job));
    if (!dry_run_) {
      make_results_folder(job.folder);
      write_slurm_script(job.script, text);
    }
    if (as_json()) {
      context.terminal().print(plan_json(job).dump(2) + '\n');
    } else if (dry_run_) {
      context.terminal().print(tasks_text(job));
    }
    tell(context.terminal(), job);
    return ExitCode::kDone;
  }

 private:
  [[nodiscard]] SlurmJob plan(Context& context) const {
    const auto gpus = static_cast<std::size_t>(parse_count("--gpus", gpus_, 1));
    const auto cpus = static_cast<std::size_t>(parse_count("--cpus", request_.cpus, 1));
    std::optional<double> limit_s;
    if (!request_.time.empty()) limit_s = value_or_throw(parse_slurm_time(request_.time));
    require_device_of_task();
    const SearchRequest search = search_->request(context);
    if (output_.empty() && !dry_run_)
      throw CommandError(ErrorKind::kUsage, "--output is required. Give -o a script to write, or --dry-run.");
    const fs::path script = output_.empty() ? fs::path() : fs::absolute(output_).lexically_normal();
    const fs::path folder =
        folder_.empty() ? script.parent_path() / script.stem() : fs::absolute(folder_).lexically_normal();
    if (folder == script && !script.empty())
      throw CommandError(
          ErrorKind::kUsage,
          fmt::format("{} would be both script and folder. Give -o a name that ends in .sh, or --folder.",
                      script.string()));
    SlurmJob job;
    job.request = request_;
    job.request.gpus = gpus;
    job.tasks = divide(search, gpus, cpus, limit_s);
    job.folder = folder.string();
    job.script = script.string();
    job.program = own_executable().string();
    job.list_option = listed(search.problems.front()).option;
    job.working_folder = fs::current_path().string();
    job.command_line = context.command_line();
    pass_on(job);
    return job;
  }

  void require_device_of_task() const {
    for (const Option& option : searched_) {
      for (const std::string& word : option.words()) {
        if (option.name() != "--device" || word == "--device=0" || word.starts_with("--device=recording")) continue;
        throw CommandError(ErrorKind::kUsage, fmt::format("{}: a task has one GPU, number 0. Give --device 0, "
                                                          "recording or recording:FILE.",
                                                          word));
      }
    }
  }

  /// The user's search options, without those that each task sets itself and those for this command's output.
  void pass_on(SlurmJob& job) const {
    static const std::set<std::string> kOwn{"--shape", "--shapes", "--size",   "--sizes",
                                            "--json",  "--quiet",  "--verbose"};
    bool device = false;
    for (const Option& option : searched_) {
      const std::string name = option.name();
      if (kOwn.contains(name)) continue;
      const std::vector<std::string> words = option.words();
      device |= name == "--device" && !words.empty();
      if (name == "--jobs") {
        if (!words.empty()) job.jobs = words.back();
      } else {
        job.search_options.insert(job.search_options.end(), words.begin(), words.end());
      }
    }
    // Without a usable GPU, auto would use a recording.
    if (!device) job.search_options.insert(job.search_options.begin(), "--device=0");
  }

  void tell(Terminal& terminal, const SlurmJob& job) const {
    std::size_t problems = 0;
    for (const SlurmTask& task : job.tasks) problems += task.problems.size();
    const double longest = longest_s(job.tasks);
    terminal.note(fmt::format("{} in {}, the longest expected to take about {} on an H200",
                              counted(problems, "problem"), counted(job.tasks.size(), "task"), duration_text(longest)));
    if (!request_.time.empty() && longest > kShareOfLimit * parse_slurm_time(request_.time).value())
      terminal.note(
          fmt::format("--time {} may be too short for it: a task that is cut goes on where it stopped when the "
                      "script is submitted again.",
                      request_.time));
    if (dry_run_) {
      if (!output_.empty()) terminal.note(fmt::format("would write {}, with results in {}", job.script, job.folder));
      return;
    }
    terminal.note(fmt::format("wrote {}; results will be in {}, which all nodes must share", job.script, job.folder));
    terminal.note(fmt::format("submit it, now and again after failures: bash {}", shown_word(output_)));
  }

  [[nodiscard]] bool as_json() const {
    return std::any_of(searched_.begin(), searched_.end(),
                       [](const Option& option) { return option.name() == "--json" && option.given(); });
  }

  std::unique_ptr<SearchOptions> search_ = make_search_options();
  std::vector<Option> searched_;
  SlurmRequest request_;
  std::string gpus_, folder_, output_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_slurm_command() { return std::make_unique<SlurmCommand>(); }

}  // namespace pgtune::tool
