// SPDX-License-Identifier: MIT
// The winners of a database as a library of kernels that the preload library serves (kernels/table.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// Nothing where the database has no GEMM and no family that is faster than cuBLASLt. Compiled once for the same
/// content, into the cache. Throws CommandError (environment): no host compiler, and the errors of callable_export().
[[nodiscard]] std::optional<std::filesystem::path> kernel_library(Context& context, const std::string& database);

/// Whether the file is a shared object that names what the preload library looks up in it. Nothing is loaded.
[[nodiscard]] bool is_kernel_library(const std::filesystem::path& path);

/// First and last M of the parts of a family that are faster than cuBLASLt, as the probe nearest to an M was, which is
/// within a factor of two.
[[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> faster_ranges(const Family& family);

/// The same of an export in the namespace kServedNamespace, as a library in `folder`.
[[nodiscard]] Result<std::filesystem::path> compile_kernels(const std::filesystem::path& folder,
                                                            const CallableHeader& content);
inline constexpr const char* kServedNamespace = "pgtune_served";

}  // namespace pgtune::tool
