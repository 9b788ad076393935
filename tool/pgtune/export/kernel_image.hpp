// SPDX-License-Identifier: MIT
// The bytes of a kernel in a header: its cubin, or the cubin compressed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// The toolkit's fatbinary (PGTUNE_FATBINARY names another), which compresses cubins for the driver to expand; nothing
/// if there is none.
[[nodiscard]] std::optional<std::filesystem::path> find_fatbinary();

/// The cubin's bytes; with `fatbinary` a fatbin with it, compressed for size. Errors (environment): a file that cannot
/// be read, a program that fails.
[[nodiscard]] Result<std::string> kernel_image(const std::string& cubin_path, const DeviceInfo& device,
                                               const std::optional<std::filesystem::path>& fatbinary);

}  // namespace pgtune::tool
