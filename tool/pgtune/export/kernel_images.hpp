// SPDX-License-Identifier: MIT
// Compiled kernels as a header carries them: each once, as small as the toolkit at hand makes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// The toolkit's fatbinary (PGTUNE_FATBINARY names another), which compresses cubins so that the driver expands them;
/// nothing where there is none.
[[nodiscard]] std::optional<std::filesystem::path> find_fatbinary();

/// The cubin's bytes; with `fatbinary` a fatbin with it, compressed for size. Errors (environment): a file that cannot
/// be read, a program that fails.
[[nodiscard]] Result<std::string> kernel_image(const std::string& cubin_path, const DeviceInfo& device,
                                               const std::optional<std::filesystem::path>& fatbinary);

/// The least cuDriverGetVersion() for cubins of NVRTC `version` ("13.0"): CUDA's first of that major version, and 12.4
/// for compressed ones.
[[nodiscard]] int least_driver(const std::string& nvrtc_version, bool compressed);

}  // namespace pgtune::tool
