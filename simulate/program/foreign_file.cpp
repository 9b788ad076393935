// SPDX-License-Identifier: MIT
#include "simulate/program/foreign_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "simulate/program/kernel_tuner_cache.hpp"
#include "simulate/program/t4_results.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/util/json_reader.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{1} << 30;

Result<json> parse(std::string_view text) {
  auto document = parse_untrusted_json(text);
  if (document) return document;
  // Kernel Tuner leaves the JSON unclosed while it is tuning.
  std::string closed(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
  if (closed.ends_with(',')) closed.pop_back();
  auto again = parse_untrusted_json(closed + "}}");
  return again ? std::move(again) : std::move(document);
}

Result<std::pair<ForeignFormat, json>> document_of(std::string_view text, const std::string& origin) {
  auto document = parse(text);
  if (!document) return fail(ErrorKind::kUsage, fmt::format("{} is no JSON: {}", origin, document.error().message));
  if (is_kernel_tuner_cache(*document)) return std::pair{ForeignFormat::kKernelTuner, std::move(*document)};
  if (is_t4(*document)) return std::pair{ForeignFormat::kT4, std::move(*document)};
  return fail(ErrorKind::kUsage, origin +
                                     " is neither a cache of Kernel Tuner ('tune_params_keys' and 'cache') nor a T4 "
                                     "file ('results')");
}

Result<ForeignTable> table_of(const std::pair<ForeignFormat, json>& document, const std::string& origin) {
  auto table = document.first == ForeignFormat::kKernelTuner ? read_kernel_tuner_cache(document.second)
                                                             : read_t4(document.second);
  if (!table) return fail(ErrorKind::kUsage, fmt::format("{} {}", origin, table.error().message));
  return table;
}

std::string text_of(const std::string& path, const char* wanted) {
  auto text = read_file(path, kMostFileBytes);
  if (!text)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("{} cannot be read or has more than 1 GiB. Give {}.", path, wanted));
  if (text->starts_with("\x1f\x8b"))
    throw CommandError(ErrorKind::kUsage, fmt::format("{} is compressed. Give what gunzip makes of it.", path));
  return std::move(*text);
}

constexpr const char* kTable = "a T4 file or a cache of Kernel Tuner";

}  // namespace

EnumTable<ForeignFormat> enum_table(ForeignFormat) {
  static constexpr EnumNames<ForeignFormat, 2> kNames{
      {{ForeignFormat::kT4, "t4"}, {ForeignFormat::kKernelTuner, "kernel_tuner"}}};
  return kNames;
}

Result<ForeignTable> parse_foreign_table(std::string_view text, const std::string& origin) {
  const auto document = document_of(text, origin);
  return document ? table_of(*document, origin) : tl::unexpected<Error>(document.error());
}

ForeignTable read_foreign_table(const std::string& path) {
  return value_or_throw(parse_foreign_table(text_of(path, kTable), path));
}

ForeignTable read_foreign_table(const std::string& path, ForeignFormat format, const std::string& space) {
  const auto document = value_or_throw(document_of(text_of(path, kTable), path));
  if (document.first != format)
    throw CommandError(ErrorKind::kUsage, fmt::format("{} is a file of {}. Say 'pgtune import {}'.", path,
                                                      to_string(document.first), to_string(document.first)));
  ForeignTable table = value_or_throw(table_of(document, path));
  if (space.empty()) return table;
  const auto t1 = parse_untrusted_json(text_of(space, "a T1 file"));
  if (!t1) throw CommandError(ErrorKind::kUsage, fmt::format("{} is no JSON: {}", space, t1.error().message));
  if (const auto added = add_t1_space(*t1, table); !added)
    throw CommandError(ErrorKind::kUsage, fmt::format("{} {}", space, added.error().message));
  return table;
}

std::string write_foreign_table(const ForeignTable& table, ForeignFormat format) {
  return format == ForeignFormat::kT4 ? write_t4(table) : write_kernel_tuner_cache(table);
}

}  // namespace pgtune::tool
