// SPDX-License-Identifier: MIT
// Machine code as evidence: what instructions a cubin is made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tuner/model/result.hpp"

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

/// nvdisasm: PGTUNE_NVDISASM, else on PATH, else in CUDA_HOME/bin, CUDA_PATH/bin, /usr/local/cuda/bin or the toolkit
/// pgtune was built with. Error (environment) where there is none, with the remedy.
[[nodiscard]] Result<std::filesystem::path> find_disassembler();

/// Runs the disassembler over a cubin. Errors (environment): it cannot be run or fails; its last line is quoted.
[[nodiscard]] Result<std::string> disassemble(const std::filesystem::path& disassembler,
                                              const std::filesystem::path& cubin);

}  // namespace pgtune::tool
