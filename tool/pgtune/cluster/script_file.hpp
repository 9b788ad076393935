// SPDX-License-Identifier: MIT
// Where a job's script and its results go.
#pragma once

#include <filesystem>
#include <string>

namespace pgtune::tool {

/// Writes an executable script at once under its name, over an older one that pgtune wrote and over nothing else.
/// Throws CommandError: something else is there (usage), it cannot be written (environment).
void write_slurm_script(const std::filesystem::path& path, const std::string& text);

/// Makes the folder that tasks write to, with its logs, which Slurm does not make. Throws CommandError (environment).
void make_results_folder(const std::filesystem::path& folder);

}  // namespace pgtune::tool
