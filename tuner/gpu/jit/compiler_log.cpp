// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/compiler_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace pgtune::gpu {
namespace {

template <typename Visit>
void for_each_line(std::string_view log, const Visit& visit) {
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    visit(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
}

/// The number before `unit` in a line such as "Used 64 registers, 512 bytes smem"; 0 where the line does not have it.
template <typename Number>
Number number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  Number value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

std::string_view text_between(std::string_view line, std::string_view before, char after) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + before.size());
  return line.substr(0, line.find(after));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string shortened(std::string_view text) {
  if (text.size() <= kMaxReasonBytes) return std::string(text);
  constexpr std::string_view kEllipsis = "...";
  std::size_t end = kMaxReasonBytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // not inside a UTF-8 character
  return std::string(text.substr(0, end)).append(kEllipsis);
}

/// "x.cu(3): error: ...", "x.cu(3): error #20: ...", "catastrophic error: ...", "ptxas ...; error   : ...",
/// "ptxas fatal   : ..."; not "2 errors detected in ...".
bool is_error_line(std::string_view line) {
  for (const std::string_view word : {"error", "fatal"}) {
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      const bool word_starts = at > 0 && line[at - 1] == ' ';
      std::string_view rest = line.substr(at + word.size());
      if (rest.substr(0, 2) == " #") rest = rest.substr(std::min(rest.find(':'), rest.size()));
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      if (word_starts && !rest.empty() && rest.front() == ':') return true;
    }
  }
  return false;
}

}  // namespace

std::vector<KernelResources> parse_resources(std::string_view log) {
  std::vector<KernelResources> kernels;
  for_each_line(log, [&](std::string_view line) {
    if (const std::string_view symbol = text_between(line, "Compiling entry function '", '\''); !symbol.empty())
      kernels.push_back({.symbol = std::string(symbol)});
    if (kernels.empty()) return;
    KernelResources& kernel = kernels.back();
    // Device functions that are not inlined report lines of their own inside their kernel's: the largest counts.
    kernel.registers = std::max(kernel.registers, number_before<int>(line, " registers"));
    kernel.stack_bytes = std::max({kernel.stack_bytes, number_before<std::int64_t>(line, " bytes stack frame"),
                                   number_before<std::int64_t>(line, " bytes cumulative stack size")});
    kernel.spill_bytes = std::max(kernel.spill_bytes, number_before<std::int64_t>(line, " bytes spill stores") +
                                                          number_before<std::int64_t>(line, " bytes spill loads"));
    kernel.static_smem_bytes = std::max(kernel.static_smem_bytes, number_before<std::int64_t>(line, " bytes smem"));
  });
  return kernels;
}

std::optional<std::string> find_hazard(std::string_view log) {
  constexpr std::array<std::string_view, 2> kHazards{"wgmma.mma_async instructions are serialized",
                                                     "'setmaxnreg' ignored"};
  std::optional<std::string> hazard;
  for_each_line(log, [&](std::string_view line) {
    const auto is_in_line = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
    if (!hazard && std::any_of(kHazards.begin(), kHazards.end(), is_in_line)) hazard = shortened(trimmed(line));
  });
  return hazard;
}

std::optional<std::string> find_first_error(std::string_view log) {
  std::optional<std::string> error;
  for_each_line(log, [&](std::string_view line) {
    if (!error && is_error_line(line)) error = shortened(trimmed(line));
  });
  return error;
}

std::optional<std::string> explain_undefined_label(std::string_view error, const std::vector<Define>& defines) {
  constexpr std::string_view kMacro = "LABEL_";
  const std::string_view macro = text_between(error, "identifier \"", '"');
  if (!macro.starts_with(kMacro) || error.find("is undefined") == std::string_view::npos) return std::nullopt;
  std::vector<std::string_view> labels;
  for (const Define& define : defines) {
    if (define.name.starts_with(kMacro)) labels.push_back(std::string_view(define.name).substr(kMacro.size()));
  }
  return shortened(fmt::format(
      "{}: the template's source uses {}, which none of its parameters has as a value; the labels there are: {}",
      error.substr(0, error.find(": error")), macro,
      labels.empty() ? "none" : fmt::to_string(fmt::join(labels, ", "))));
}

}  // namespace pgtune::gpu
