// SPDX-License-Identifier: MIT
// Counts the instructions in a cubin's machine code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// Static counts over all kernels of a cubin, by opcode with its modifiers for width and path, for example "FFMA",
/// "LDS.128", "LDG.64", "LDGSTS.BYPASS.128", "STL".
struct SassCounts {
  std::int64_t total = 0;
  std::map<std::string, std::int64_t> by_opcode;

  /// Sum over opcodes that are `name` or begin with `name` and a dot.
  [[nodiscard]] std::int64_t of(std::string_view name) const;
};

/// Counts the instructions in nvdisasm's text.
[[nodiscard]] SassCounts count_instructions(std::string_view nvdisasm_text);

/// The innermost loop with at least a quarter of the code's FFMAs, found by its backward jump: a GEMM spends its time
/// there. Nothing if no loop has that many.
[[nodiscard]] std::optional<SassCounts> main_loop(std::string_view nvdisasm_text);

/// nvdisasm, from PGTUNE_NVDISASM or find_toolkit_program().
[[nodiscard]] Result<std::filesystem::path> find_disassembler();

/// Runs the disassembler over a cubin. Errors (environment): it cannot be run or fails; its last line is quoted.
[[nodiscard]] Result<std::string> disassemble(const std::filesystem::path& disassembler,
                                              const std::filesystem::path& cubin);

}  // namespace pgtune::tool
