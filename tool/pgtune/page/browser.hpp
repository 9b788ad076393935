// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace pgtune::tool {

/// Asks the desktop (xdg-open, or $BROWSER where that is set) to show a file, without waiting for it. Throws
/// CommandError (environment) where there is neither.
void open_in_browser(const std::filesystem::path& file);

}  // namespace pgtune::tool
