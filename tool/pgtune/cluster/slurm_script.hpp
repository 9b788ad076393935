// SPDX-License-Identifier: MIT
// The script that `pgtune slurm` writes: a job array of searches, and the merge after it. What is the same in all of
// them is slurm_job.sh.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// What the cluster is asked for. Texts are as sbatch takes them; empty ones are left to the cluster.
struct SlurmRequest {
  std::size_t gpus = 1;  ///< tasks at once, one GPU each
  std::string gpu_type;  ///< as the cluster's GRES calls it
  std::string cpus = "8";
  std::string time, partition, account;
  std::string merge_partition;    ///< where it is not the tasks' own
  std::vector<std::string> more;  ///< whole options of sbatch, for the tasks
};

/// One task of the array.
struct SlurmTask {
  std::vector<std::string> problems;  ///< a line each, as in a list of shapes or sizes
  double expected_s = 0;
};

struct SlurmJob {
  SlurmRequest request;
  std::vector<SlurmTask> tasks;
  std::string folder;                       ///< absolute, shared by all nodes
  std::string script;                       ///< where the script itself will be, absolute
  std::string program;                      ///< pgtune, absolute
  std::string working_folder;               ///< absolute; relative paths among the options start here
  std::string list_option = "--shapes";     ///< what takes a task's problems as a file
  std::vector<std::string> search_options;  ///< of every task, but for --jobs
  std::string jobs;                         ///< "--jobs=N", or empty: as many as the task has cores
  std::string command_line;                 ///< that asked for it
};

/// The first words of every script's second line, by which one is told from other files.
inline constexpr std::string_view kSlurmScriptMark = "# A job array of pgtune ";

/// Errors (usage): a text that would be something else in a line of sbatch's or among the names of its log files.
[[nodiscard]] Result<std::string> slurm_script(const SlurmJob& job);

// Times as sbatch's --time takes them.

/// Seconds of minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS. Errors (usage): anything else, and no time at all.
[[nodiscard]] Result<double> parse_slurm_time(std::string_view text);

// Many problems dealt out to tasks that work side by side, so that all end at about the same time.

struct Chunk {
  std::vector<std::size_t> items;  ///< ascending
  double expected_s = 0;           ///< of all of them
};

/// Each item goes, the longest first, to the chunk that has least so far: the longest chunk is at most 4/3 - 1/(3
/// count) times as long as it must be (R. L. Graham, Bounds on multiprocessing timing anomalies, 1969). `expected_s`:
/// not negative. `count` chunks, at least 1, or as many as there are items where those are fewer; none is empty.
[[nodiscard]] std::vector<Chunk> balanced_chunks(const std::vector<double>& expected_s, std::size_t count);

// Where a job's script and its results go.

/// Writes an executable script at once under its name, over an older one that pgtune wrote and over nothing else.
/// Throws CommandError: something else is there (usage), it cannot be written (environment).
void write_slurm_script(const std::filesystem::path& path, const std::string& text);

/// Makes the folder that tasks write to, with its logs, which Slurm does not make. Throws CommandError (environment).
void make_results_folder(const std::filesystem::path& folder);

}  // namespace pgtune::tool
