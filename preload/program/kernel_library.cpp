// SPDX-License-Identifier: MIT
#include "preload/program/kernel_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "db/queries/queries.hpp"
#include "pgtune_preload_kernels.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/export/callable_export.hpp"
#include "tool/pgtune/export/result_choice.hpp"
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

/// The parts of families that are faster than cuBLASLt.
std::vector<ExportedFamily> faster_parts(const std::vector<ExportedFamily>& families) {
  std::vector<ExportedFamily> parts;
  for (const ExportedFamily& whole : families) {
    for (const auto& [first_m, last_m] : faster_ranges(whole.family)) {
      Family& part = parts.emplace_back(whole).family;
      part.first_m = first_m;
      part.problem.m = last_m;
    }
  }
  return parts;
}

CallableHeader faster_gemms(Context& context, const std::string& path) {
  const db::Database database = context.open_database(path, db::OpenMode::kReadOnly);
  CallableOptions options;
  options.name_space = kServedNamespace;
  options.file_name = std::string(kServedNamespace) + ".hpp";
  options.families = db::list_families(database, {});
  std::erase_if(options.families, [](const db::FamilyRow& row) { return faster_ranges(row.family).empty(); });
  std::vector<StoredResult> results = best_of_each_problem(ResultFilter().load_from(context, path));
  std::erase_if(results, [&](const StoredResult& result) {
    // A slower one stays where a family would serve its problem in its place (table.cpp).
    const bool of_use = result.answer.best().ratio_low > 1 ||
                        std::any_of(options.families.begin(), options.families.end(),
                                    [&](const db::FamilyRow& row) { return row.family.covers(result.problem); });
    return !result.problem.is_gemm() || result.problem.chained || !of_use;
  });
  if (results.empty() && options.families.empty()) return {};
  CallableHeader content = callable_export(context, results, database, options);
  content.families = faster_parts(content.families);
  return content;
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

bool is_kernel_library(const std::filesystem::path& path) {
  constexpr std::string_view kElf = "\177ELF";
  constexpr std::size_t kType = 16;  // the low byte of e_type; 3: shared object
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const std::string bytes = read_file(path).value_or("");
  return bytes.starts_with(kElf) && bytes.size() > kType && bytes[kType] == 3 &&
         bytes.find("pgtune_kernels_v1") != std::string::npos;
}

std::vector<std::pair<std::int64_t, std::int64_t>> faster_ranges(const Family& family) {
  constexpr std::int64_t kReach = 2;  // a probe tells of M within this factor
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  std::int64_t first_m = family.first_m;
  for (auto probe = family.probes.begin(); probe != family.probes.end(); ++probe) {
    const auto next = std::next(probe);
    const std::int64_t last_m =
        next == family.probes.end()
            ? family.last_m()
            : static_cast<std::int64_t>(std::sqrt(static_cast<double>(probe->m) * static_cast<double>(next->m)));
    if (probe->family_s < probe->baseline_best_s) {
      const std::int64_t first = std::max(first_m, (probe->m + kReach - 1) / kReach);
      if (ranges.empty() || ranges.back().second + 1 != first) ranges.emplace_back(first, 0);
      ranges.back().second = std::min(last_m, kReach * probe->m);
    }
    first_m = last_m + 1;
  }
  return ranges;
}

Result<std::filesystem::path> compile_kernels(const std::filesystem::path& folder, const CallableHeader& content) {
  write_output_file(folder / "table.hpp", source_file("table.hpp"));
  return compile_export(folder, content, write_split_header(content), source_file("table.cpp"));
}

std::optional<std::filesystem::path> kernel_library(Context& context, const std::string& database) {
  const CallableHeader content = faster_gemms(context, database);
  if (content.entries.empty() && content.families.empty()) return std::nullopt;
  const std::filesystem::path cache = context.paths().cache / "served", library = cache / file_name(content);
  if (std::filesystem::exists(library)) return library;
  value_or_throw(make_private_folder(cache));
  const ScratchFolder folder = value_or_throw(ScratchFolder::make());
  const std::filesystem::path compiled = value_or_throw(compile_kernels(folder.path(), content));
  const auto bytes = read_file(compiled);
  if (!bytes) throw CommandError(ErrorKind::kEnvironment, "cannot read " + compiled.string());
  value_or_throw(write_file_atomically(library, *bytes));
  return library;
}

}  // namespace pgtune::tool
