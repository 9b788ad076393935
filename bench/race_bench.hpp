// SPDX-License-Identifier: MIT
// Whether races decide well, and what they save: searches replayed over full recordings.
#pragma once

#include <string>

namespace pgtune::bench {

/// For each problem of `file`, a database made with `pgtune search --full`: replays whole searches with `seeds`
/// different orders of the recorded rounds and prints one row. `template_selector`: empty for the built-in templates.
/// Throws std::runtime_error where nothing in the file is a full recording, and what reading the file throws.
void bench_race(const std::string& file, int seeds, const std::string& template_selector);

}  // namespace pgtune::bench
