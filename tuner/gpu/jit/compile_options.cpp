// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/compile_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tuner/util/identifier.hpp"

namespace pgtune::gpu {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return is_number(text);
}

/// "sm_90", "sm_90a", "sm_100f".
bool is_architecture(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return is_number(text) && text.size() <= 4;
}

}  // namespace

Result<std::vector<std::string>> compile_options(const protocol::BuildRequest& request, const Toolkit& toolkit) {
  if (!is_architecture(request.architecture))
    return fail(ErrorKind::kUsage,
                fmt::format("'{}' is no architecture to compile for; sm_90a is one", request.architecture));
  std::vector<std::string> out{
      "--gpu-architecture=" + request.architecture,
      "-std=c++17",
      "-default-device",
      "--no-source-include",  // the working folder must not decide what a template includes
      "--ptxas-options=-v",
  };
  for (const std::filesystem::path& folder : toolkit.include_folders) out.push_back("-I" + folder.string());
  for (const Define& define : request.defines) {
    if (!is_identifier(define.name) || !(is_integer(define.value) || is_identifier(define.value)))
      return fail(ErrorKind::kUsage,
                  fmt::format("a template may define a name as an integer or a label, not '{}' as '{}'", define.name,
                              define.value));
    out.push_back(fmt::format("-D{}={}", define.name, define.value));
  }
  return out;
}

}  // namespace pgtune::gpu
