// SPDX-License-Identifier: MIT
// The script that `pgtune slurm` writes: a job array of searches, and the merge after it. What is the same in all of
// them is slurm_job.sh.
#pragma once

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
  std::string memory, time, partition, account, qos, constraint;
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

}  // namespace pgtune::tool
