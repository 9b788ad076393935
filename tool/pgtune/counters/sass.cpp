// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/sass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "LDG.E.128.CONSTANT" -> "LDG.128": keeps a memory instruction's width and path; drops the rest.
std::string short_opcode(std::string_view opcode) {
  const std::vector<std::string_view> parts = split(opcode, '.');
  std::string name(parts.front());
  constexpr std::array kept{"BYPASS", "U8", "S8", "U16", "S16", "64", "128"};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (std::find(kept.begin(), kept.end(), parts[i]) != kept.end()) name.append(".").append(parts[i]);
  }
  return name;
}

/// The opcode of a line such as "        /*0010*/              @!P0 LDG.E R4, desc[UR4][R2.64] ;", or nothing.
std::string_view opcode_of(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line.substr(begin, 2) != "/*") return {};
  const std::size_t address_end = line.find("*/", begin);
  if (address_end == std::string_view::npos) return {};
  if (line.find(';', address_end) == std::string_view::npos) return {};
  line.remove_prefix(address_end + 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size()));
  if (!line.empty() && line.front() == '@') {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return line.substr(0, line.find_first_of(" ;"));
}

/// The label a line such as ".L_x_3:" sets, or nothing.
std::string_view label_of(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t end = line.find(':');
  return line.starts_with(".L") && end != std::string_view::npos ? line.substr(0, end) : std::string_view{};
}

/// The label that a line such as "/*0a10*/ @!P0 BRA `(.L_x_3) ;" jumps to, or nothing.
std::string_view target_of(std::string_view line) {
  const std::size_t begin = line.find("`(");
  const std::size_t end = line.find(')', std::min(begin, line.size()));
  return end == std::string_view::npos ? std::string_view{} : line.substr(begin + 2, end - begin - 2);
}

/// Directives of data sections, and the padding behind a kernel, are no instructions.
bool counts(std::string_view opcode) { return !opcode.empty() && opcode.front() != '.' && opcode != "NOP"; }

void count(SassCounts& counts, std::string_view opcode) {
  ++counts.total;
  ++counts.by_opcode[short_opcode(opcode)];
}

}  // namespace

std::int64_t SassCounts::of(std::string_view name) const {
  std::int64_t sum = 0;
  for (const auto& [opcode, count] : by_opcode) {
    const std::string_view text = opcode;
    if (text == name || (text.starts_with(name) && text[name.size()] == '.')) sum += count;
  }
  return sum;
}

SassCounts count_instructions(std::string_view nvdisasm_text) {
  SassCounts all;
  for (const std::string_view line : split(nvdisasm_text, '\n')) {
    if (const std::string_view opcode = opcode_of(line); counts(opcode)) count(all, opcode);
  }
  return all;
}

std::optional<SassCounts> main_loop(std::string_view nvdisasm_text) {
  struct Loop {
    std::size_t first, last;  ///< instructions
    std::int64_t ffma;
  };
  std::vector<std::string_view> code;
  std::vector<std::int64_t> ffma_before{0};  ///< by instruction
  std::map<std::string_view, std::size_t> labels;
  std::vector<Loop> loops;
  for (const std::string_view line : split(nvdisasm_text, '\n')) {
    if (const std::string_view label = label_of(line); !label.empty()) labels[label] = code.size();
    const std::string_view opcode = opcode_of(line);
    if (!counts(opcode)) continue;
    code.push_back(opcode);
    ffma_before.push_back(ffma_before.back() + (short_opcode(opcode) == "FFMA" ? 1 : 0));
    if (!opcode.starts_with("BRA")) continue;
    const auto label = labels.find(target_of(line));
    if (label == labels.end()) continue;  // a jump forward
    loops.push_back({label->second, code.size(), ffma_before.back() - ffma_before[label->second]});
  }
  const Loop* found = nullptr;
  for (const Loop& loop : loops) {
    if (loop.ffma == 0 || 4 * loop.ffma < ffma_before.back()) continue;
    if (found == nullptr || loop.last - loop.first < found->last - found->first) found = &loop;
  }
  if (found == nullptr) return std::nullopt;
  SassCounts inside;
  for (std::size_t i = found->first; i < found->last; ++i) count(inside, code[i]);
  return inside;
}

Result<std::filesystem::path> find_disassembler() {
  return find_toolkit_program({"nvdisasm", "disassembler", "PGTUNE_NVDISASM"});
}

Result<std::string> disassemble(const std::filesystem::path& disassembler, const std::filesystem::path& cubin) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  TRY_ASSIGN(auto child, ChildProcess::start({disassembler.string(), cubin.string()}, kMostBytes));
  std::string text;
  const std::string end = run_to_end(*child, SteadyClock::now() + std::chrono::minutes(5),
                                     [&](const std::string& line) { text.append(line).push_back('\n'); });
  if (child->succeeded()) return text;
  return fail(ErrorKind::kEnvironment, fmt::format("{} {}", disassembler.string(), end));
}

}  // namespace pgtune::tool
