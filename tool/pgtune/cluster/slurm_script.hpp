// SPDX-License-Identifier: MIT
// The script that `pgtune slurm` writes: a job array of searches, and the merge after it. slurm_job.sh is the part that
// all scripts share.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// The requested resources. Texts are in sbatch's form; for empty ones the cluster's defaults apply.
struct SlurmRequest {
  std::size_t gpus = 1;  ///< tasks at once, one GPU each
  std::string gpu_type;  ///< its name in the cluster's GRES
  std::string cpus = "8";
  std::string time, partition, account;
  std::string merge_partition;    ///< if it differs from the tasks'
  std::vector<std::string> more;  ///< whole options of sbatch, for the tasks
};

/// One task of the array.
struct SlurmTask {
  std::vector<std::string> problems;  ///< one line each, as in a list of shapes or sizes
  double expected_s = 0;
};

struct SlurmJob {
  SlurmRequest request;
  std::vector<SlurmTask> tasks;
  std::string folder;                       ///< absolute, shared by all nodes
  std::string script;                       ///< path of the script, absolute
  std::string program;                      ///< pgtune, absolute
  std::string working_folder;               ///< absolute; relative paths among the options start here
  std::string list_option = "--shapes";     ///< the option for a task's file of problems
  std::vector<std::string> search_options;  ///< options of every task, without --jobs
  std::string jobs;                         ///< "--jobs=N", or empty: the task's number of cores
  std::string command_line;                 ///< the command line that made the script
};

/// The first words of every script's second line, which identify such scripts.
inline constexpr std::string_view kSlurmScriptMark = "# A job array of pgtune ";

/// Errors (usage): a text that has another meaning in an sbatch line or in the names of its log files.
[[nodiscard]] Result<std::string> slurm_script(const SlurmJob& job);

// Times in the form of sbatch's --time.

/// Seconds of minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS. Errors (usage): anything else, and a time of zero.
[[nodiscard]] Result<double> parse_slurm_time(std::string_view text);

// Divides many problems among parallel tasks so that all end at about the same time.

struct Chunk {
  std::vector<std::size_t> items;  ///< ascending
  double expected_s = 0;           ///< of all of them
};

/// Assigns each item, the longest first, to the chunk with the least time so far. The longest chunk is at most 4/3 -
/// 1/(3 count) times the optimum (R. L. Graham, Bounds on multiprocessing timing anomalies, 1969). `expected_s`: not
/// negative. Returns `count` chunks (at least 1), or one per item if there are fewer items; none is empty.
[[nodiscard]] std::vector<Chunk> balanced_chunks(const std::vector<double>& expected_s, std::size_t count);

// The files of a job's script and results.

/// Writes an executable script atomically. Replaces only an older script from pgtune. Throws CommandError: another file
/// exists there (usage), it cannot be written (environment).
void write_slurm_script(const std::filesystem::path& path, const std::string& text);

/// Creates the tasks' output folder and its folder of logs, which Slurm does not create. Throws CommandError
/// (environment).
void make_results_folder(const std::filesystem::path& folder);

}  // namespace pgtune::tool
