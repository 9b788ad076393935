// SPDX-License-Identifier: MIT
#include "preload/program/kernel_library.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pgtune_preload_kernels.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/export/callable_export.hpp"
#include "tool/pgtune/export/verification.hpp"
#include "tuner/util/own_files.hpp"
#include "tuner/util/sha256.hpp"

namespace pgtune::tool {
namespace {

std::string source_file(std::string_view name) {
  for (const embedded::File& file : embedded::pgtune_preload_kernels()) {
    if (file.path == name) return std::string(file.contents);
  }
  throw std::logic_error("there is no " + std::string(name));
}

CallableHeader faster_gemms(Context& context, const std::string& database) {
  std::vector<StoredResult> results = ResultFilter().load_from(context, database);
  std::erase_if(results, [](const StoredResult& result) {
    return !result.problem.is_gemm() || result.problem.chained || result.answer.best().ratio_low <= 1;
  });
  if (results.empty()) return {};
  CallableOptions options;
  options.name_space = kServedNamespace;
  options.file_name = std::string(kServedNamespace) + ".hpp";
  return callable_export(context, results, context.open_database(database, db::OpenMode::kReadOnly), options);
}

std::string file_name(const CallableHeader& content) {
  const ExportedText text = write_split_header(content);
  std::string name;
  for (const std::uint8_t byte :
       sha256(text.header + text.source + source_file("table.cpp") + source_file("table.hpp")))
    name += fmt::format("{:02x}", byte);
  return name + ".so";
}

}  // namespace

Result<std::filesystem::path> compile_kernels(const std::filesystem::path& folder, const CallableHeader& content) {
  write_output_file(folder / "table.hpp", source_file("table.hpp"));
  return compile_export(folder, content, write_split_header(content), source_file("table.cpp"));
}

std::optional<std::filesystem::path> kernel_library(Context& context, const std::string& database) {
  const CallableHeader content = faster_gemms(context, database);
  if (content.entries.empty()) return std::nullopt;
  const std::filesystem::path cache = context.paths().cache / "served", library = cache / file_name(content);
  if (std::filesystem::exists(library)) return library;
  value_or_throw(make_private_folder(cache));
  const ScratchFolder folder;
  const std::filesystem::path compiled = value_or_throw(compile_kernels(folder.path(), content));
  value_or_throw(write_file_atomically(library, read_file(compiled).value_or("")));
  return library;
}

}  // namespace pgtune::tool
