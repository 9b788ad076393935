// SPDX-License-Identifier: MIT
// Templates on disk.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tuner/space/template_parser.hpp"

namespace pgtune::space {
namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{16} << 20;

/// Regular files of a sane size only: a template naming a device or a pipe must not hang the program.
Result<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) {
    return fail(ErrorKind::kUsage, fmt::format("there is no file '{}'", path.string()));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return fail(ErrorKind::kUsage, fmt::format("'{}' is not a regular file", path.string()));
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, code);
  if (!code && bytes > kMaxFileBytes) {
    return fail(ErrorKind::kUsage, fmt::format("'{}' is larger than {} MiB", path.string(), kMaxFileBytes >> 20));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && bytes > 0) text << file.rdbuf();
  if (!file || !text) {
    return fail(ErrorKind::kUsage, fmt::format("cannot read '{}': {}", path.string(),
                                               std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  }
  return text.str();
}

}  // namespace

Result<TemplateDefinition> load_template(const std::filesystem::path& json_path, const FileReader& shipped_headers) {
  auto text = read_text_file(json_path);
  if (!text) return fail(std::move(text.error()), "reading the template");
  const std::filesystem::path folder = json_path.parent_path();
  const FileReader read_file = [&](const std::string& relative) { return read_text_file(folder / relative); };
  return parse_template_with_fallback(*text, json_path.string(), read_file, shipped_headers);
}

}  // namespace pgtune::space
