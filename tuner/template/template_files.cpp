// SPDX-License-Identifier: MIT
// Templates on disk.
#include "tuner/template/template_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tuner/template/template_parser.hpp"
#include "tuner/template/template_source.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::space {
namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{16} << 20;

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::none) {
    return fail(ErrorKind::kUsage, fmt::format("cannot read '{}': {}", path.string(), code.message()));
  }
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
  return std::string(without_byte_order_mark(text.str()));
}

Result<std::string> TemplateFolder::read(const std::string& relative) {
  const std::filesystem::path path = json_folder_ / relative;
  std::error_code missing, no_folder;
  const std::filesystem::path json = std::filesystem::canonical(json_folder_ / ".", no_folder);
  if (source_folder_.empty()) source_folder_ = std::filesystem::canonical(path.parent_path() / ".", missing);
  const std::filesystem::path real = std::filesystem::canonical(path, missing);
  if (!missing && !stays_below(real.lexically_relative(source_folder_).generic_string()) &&
      !stays_below(real.lexically_relative(json).generic_string())) {
    return fail(ErrorKind::kUsage,
                fmt::format("'{}' is a link to '{}', outside the template's folder; copy the file instead",
                            path.string(), real.string()));
  }
  return read_text_file(path);
}

Result<TemplateDefinition> load_template(const std::filesystem::path& json_path, const FileReader& shipped_headers,
                                         const OperationInterface* operation,
                                         const std::vector<std::filesystem::path>& include_folders) {
  auto text = read_text_file(json_path);
  if (!text) return fail(std::move(text.error()), "reading the template");
  TemplateFolder folder(json_path.parent_path());
  const FileReader read_file = [&](const std::string& relative) { return folder.read(relative); };
  std::vector<FileReader> further;
  for (const std::filesystem::path& place : include_folders) {
    if (!std::filesystem::is_directory(place))
      return fail(ErrorKind::kUsage, fmt::format("--include-folder: there is no folder '{}'", place.string()));
    further.push_back([place](const std::string& name) { return read_text_file(place / name); });
  }
  return parse_template_with_fallback(*text, json_path.string(), read_file, shipped_headers, operation,
                                      std::move(further));
}

}  // namespace pgtune::space
