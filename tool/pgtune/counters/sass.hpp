// SPDX-License-Identifier: MIT
// Machine code as evidence: what instructions a cubin is made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// Static counts over all kernels of a cubin, by opcode with the modifiers that tell widths and paths apart, for
/// example "FFMA", "LDS.128", "LDG.64", "LDGSTS.BYPASS.128", "STL".
struct SassCounts {
  std::int64_t total = 0;
  std::map<std::string, std::int64_t> by_opcode;

  /// Sum over opcodes that are `name` or begin with `name` and a dot.
  [[nodiscard]] std::int64_t of(std::string_view name) const;
};

/// Counts the instructions in nvdisasm's text.
[[nodiscard]] SassCounts count_instructions(std::string_view nvdisasm_text);

/// The innermost loop with at least a quarter of the code's FFMAs, found by its jump back: where a GEMM spends its
/// time. Nothing where no loop has so many.
[[nodiscard]] std::optional<SassCounts> main_loop(std::string_view nvdisasm_text);

/// nvdisasm, found as find_toolkit_program() does, with PGTUNE_NVDISASM.
[[nodiscard]] Result<std::filesystem::path> find_disassembler();

/// Runs the disassembler over a cubin. Errors (environment): it cannot be run or fails; its last line is quoted.
[[nodiscard]] Result<std::string> disassemble(const std::filesystem::path& disassembler,
                                              const std::filesystem::path& cubin);

}  // namespace pgtune::tool
