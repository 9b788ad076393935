// SPDX-License-Identifier: MIT
#include "tool/pgtune/cluster/slurm_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <numeric>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "pgtune_cluster.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/version.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; });
}

/// sbatch reads quotes and backslashes in its lines; in names of files % begins a pattern too.
Result<void> check(const char* what, std::string_view text, bool file_name) {
  if (!has_control(text) && text.find_first_of(file_name ? "\"'\\%" : "\"\\") == std::string_view::npos) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} '{}' has characters that sbatch reads in a way of its own; use others than quotes, "
                          "backslashes{}",
                          what, text, file_name ? ", line breaks and %" : " and line breaks"));
}

/// Common sbatch options of tasks and merge.
std::vector<std::string> site_options(const SlurmRequest& request, const std::string& partition) {
  std::vector<std::string> options;
  for (const auto& [name, value] : {std::pair{"partition", &partition}, {"account", &request.account}}) {
    if (!value->empty()) options.push_back(fmt::format("--{}={}", name, *value));
  }
  return options;
}

std::vector<std::string> task_options(const SlurmJob& job) {
  const SlurmRequest& request = job.request;
  std::vector<std::string> options{
      "--job-name=pgtune",
      fmt::format("--array=0-{}%{}", job.tasks.size() - 1, request.gpus),
      request.gpu_type.empty() ? "--gres=gpu:1" : fmt::format("--gres=gpu:{}:1", request.gpu_type),
      "--nodes=1",
      "--ntasks=1",
      fmt::format("--cpus-per-task={}", request.cpus)};
  if (!request.time.empty()) options.push_back("--time=" + request.time);
  for (const std::string& option : site_options(request, request.partition)) options.push_back(option);
  // A search resumes where it stopped, so Slurm may restart a task.
  options.insert(options.end(), {"--requeue", "--open-mode=append", fmt::format("--chdir={}", job.working_folder),
                                 fmt::format("--output={}/logs/task-%a.log", job.folder)});
  options.insert(options.end(), request.more.begin(), request.more.end());
  return options;
}

/// "--name=value" as sbatch reads it in a script.
std::string directive(const std::string& option) {
  const std::size_t equals = option.find('=');
  if (equals == std::string::npos || option.find_first_of(" &|*;<>()[]#$") == std::string::npos)
    return fmt::format("#SBATCH {}\n", option);
  return fmt::format("#SBATCH {}=\"{}\"\n", option.substr(0, equals), option.substr(equals + 1));
}

std::string words(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : " ") + shell_word(text);
  return out;
}

std::string problems_function(const std::vector<SlurmTask>& tasks) {
  std::string text = "problems() {  # of a task\n  case $1 in\n";
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    text += fmt::format("    {}) # expected to take {}\n      cat <<'END' ;;\n", i, duration_text(tasks[i].expected_s));
    for (const std::string& problem : tasks[i].problems) text += problem + "\n";
    text += "END\n";
  }
  return text + "  esac\n}\n";
}

Result<void> check_texts(const SlurmJob& job) {
  const SlurmRequest& request = job.request;
  Result<void> fine;
  for (const auto& [what, text, file_name] : {std::tuple{"--folder", std::string_view(job.folder), true},
                                              {"the folder", job.working_folder, true},
                                              {"--output", job.script, true},
                                              {"the program", job.program, true},
                                              {"--gpu-type", request.gpu_type, false},
                                              {"--cpus", request.cpus, false},
                                              {"--time", request.time, false},
                                              {"--partition", request.partition, false},
                                              {"--account", request.account, false},
                                              {"--merge-partition", request.merge_partition, false}}) {
    if (fine) fine = check(what, text, file_name);
  }
  for (const std::string& option : request.more) {
    if (fine && (!option.starts_with("-") || has_control(option)))
      fine = fail(ErrorKind::kUsage, fmt::format("--sbatch '{}' is no option of sbatch. Give a whole one, such as "
                                                 "--sbatch=--mail-type=END.",
                                                 option));
  }
  return fine;
}

}  // namespace

Result<std::string> slurm_script(const SlurmJob& job) {
  TRY(check_texts(job));
  std::size_t problems = 0;
  for (const SlurmTask& task : job.tasks) problems += task.problems.size();
  std::string command = job.command_line;
  std::replace_if(
      command.begin(), command.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "{}{}: {} problems in {} tasks on up to {} GPUs. Made by:\n"
      "#   {}\n"
      "# Submit, and submit again for what failed or was killed:   bash {}\n"
      "# Where the tasks stand: the same with 'status'. Merge what there is, without Slurm: the same with 'merge'.\n",
      kSlurmScriptMark, kVersion, problems, job.tasks.size(), std::min(job.request.gpus, job.tasks.size()), command,
      shown_word(job.script));
  for (const std::string& option : task_options(job)) text += directive(option);
  const std::string& merge_partition =
      job.request.merge_partition.empty() ? job.request.partition : job.request.merge_partition;
  text += fmt::format("\nfolder={}\nscript={}\npgtune=${{PGTUNE:-{}}}\ntasks={}\ngpus={}\n", shell_word(job.folder),
                      shell_word(job.script), shell_word(job.program), job.tasks.size(), job.request.gpus);
  text += fmt::format("jobs={}\nlist_option={}\noptions=({})  # of pgtune search\nmerge_options=({})  # of sbatch\n",
                      shell_word(job.jobs), job.list_option, words(job.search_options),
                      words(site_options(job.request, merge_partition)));
  text += problems_function(job.tasks);
  for (const embedded::File& file : embedded::pgtune_cluster()) text += "\n" + std::string(file.contents);
  return text;
}

Result<double> parse_slurm_time(std::string_view text) {
  const auto refused = [&] {
    return fail(ErrorKind::kUsage, fmt::format("--time '{}' is no time of Slurm's. Give minutes, HH:MM:SS or D-HH:MM, "
                                               "such as 02:00:00 for two hours.",
                                               text));
  };
  std::string_view rest = text;
  const auto number = [&rest]() -> std::optional<double> {
    std::size_t digits = 0;
    double value = 0;
    while (digits < rest.size() && digits < 8 && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0)
      value = 10 * value + (rest[digits++] - '0');
    rest.remove_prefix(digits);
    return digits == 0 ? std::nullopt : std::optional(value);
  };
  double days = 0;
  const bool has_days = text.find('-') != std::string_view::npos;
  if (has_days) {
    const auto value = number();
    if (!value || !rest.starts_with('-')) return refused();
    days = *value;
    rest.remove_prefix(1);
  }
  std::vector<double> parts;
  while (parts.size() < 3) {
    const auto value = number();
    if (!value) return refused();
    parts.push_back(*value);
    if (!rest.starts_with(':')) break;
    rest.remove_prefix(1);
  }
  if (!rest.empty()) return refused();
  constexpr double kHour = 3600, kMinute = 60;
  double seconds = 24 * kHour * days;
  // With days the first part is hours; without days, one part is minutes, and two are minutes and seconds.
  const std::size_t skipped = has_days || parts.size() == 3 ? 0 : 1;
  constexpr std::array units{kHour, kMinute, 1.0};
  for (std::size_t i = 0; i < parts.size(); ++i) seconds += parts[i] * units[i + skipped];
  if (seconds <= 0) return refused();
  return seconds;
}

std::vector<Chunk> balanced_chunks(const std::vector<double>& expected_s, std::size_t count) {
  std::vector<std::size_t> order(expected_s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return expected_s[a] > expected_s[b]; });
  std::vector<Chunk> chunks(std::min(count, expected_s.size()));
  for (const std::size_t item : order) {
    // If all times are equal (for example zero), the chunk with fewer items is taken, so that none stays empty.
    Chunk& shortest = *std::min_element(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) {
      return a.expected_s != b.expected_s ? a.expected_s < b.expected_s : a.items.size() < b.items.size();
    });
    shortest.items.push_back(item);
    shortest.expected_s += expected_s[item];
  }
  for (Chunk& chunk : chunks) std::sort(chunk.items.begin(), chunk.items.end());
  return chunks;
}

namespace {

namespace fs = std::filesystem;

bool is_ours(const fs::path& path) {
  std::ifstream file(path);
  std::string first, second;
  std::getline(file, first);
  std::getline(file, second);
  return second.starts_with(kSlurmScriptMark);
}

}  // namespace

void write_slurm_script(const fs::path& path, const std::string& text) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error)) && !(fs::is_regular_file(path, error) && is_ours(path)))
    throw CommandError(
        ErrorKind::kUsage,
        fmt::format("{} is there and is no script of pgtune's; give another file with -o", path.string()));
  auto written = write_file_atomically(path, text);
  if (!written) throw CommandError(ErrorKind::kEnvironment, written.error().text());
  // With the mode of an ordinary file, and executable.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  fs::permissions(path, static_cast<fs::perms>(0777 & ~mask), error);
}

void make_results_folder(const fs::path& folder) {
  for (const char* name : {"logs", "state"}) {
    std::error_code error;
    fs::create_directories(folder / name, error);
    if (error)
      throw CommandError(ErrorKind::kEnvironment,
                         fmt::format("cannot make the folder {}: {}. Give one that all nodes share and you may write "
                                     "to with --folder",
                                     (folder / name).string(), error.message()));
  }
}

}  // namespace pgtune::tool
