// SPDX-License-Identifier: MIT
#include "tuner/template/template_source.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace pgtune::space {
namespace {

constexpr std::size_t kMaxHeaders = 256;
constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;

Error too_large(std::string_view what) {
  return Error{
      ErrorKind::kUsage,
      fmt::format("a template's source may have {} headers and {} MiB; {}", kMaxHeaders, kMaxSourceBytes >> 20, what),
      {}};
}

Result<std::string> read_include(const std::string& name, const std::filesystem::path& folder,
                                 const FileReader& read_file, const FileReader& shipped_headers) {
  const std::string path = (folder / name).lexically_normal().generic_string();
  auto text = read_file(path);
  if (text || !shipped_headers) return text;
  auto shipped = shipped_headers(name);
  if (shipped) return shipped;
  return fail(
      ErrorKind::kUsage,
      fmt::format("{}; it is no header shipped with pgtune either. Includes are relative to the source's folder "
                  "(also those inside headers); the toolkit's headers go in angle brackets",
                  text.error().text()));
}

Result<void> check_includes(const std::string& name, std::string_view contents) {
  const auto forbidden = forbidden_include(contents);
  if (!forbidden) return {};
  return fail(ErrorKind::kUsage, fmt::format("{} has '{}': a template includes by plain names below its own folder, "
                                             "without '..', macros or absolute paths, or the toolkit's headers",
                                             name, *forbidden));
}

/// Fields are length-prefixed, so moving text from one to the next changes the hash.
void append_field(std::string& out, std::string_view field) {
  out += fmt::format("{}:", field.size());
  out += field;
}

}  // namespace

Result<TemplateSource> read_template_source(const std::string& path, const FileReader& read_file,
                                            const FileReader& shipped_headers) {
  const std::filesystem::path source_path = std::filesystem::path(path).lexically_normal();
  if (source_path.is_absolute() || source_path.extension() != ".cu") {
    return fail(ErrorKind::kUsage,
                fmt::format("source: '{}' must be a .cu file, by a path relative to the template's JSON", path));
  }
  auto text = read_file(source_path.generic_string());
  if (!text) return fail(std::move(text.error()), "source");
  TRY(check_includes(source_path.filename().string(), *text));
  TemplateSource out{source_path.filename().string(), std::move(*text), {}};

  std::size_t bytes = out.contents.size();
  std::set<std::string> seen;
  struct Pending {
    std::string name, from;
  };
  std::vector<Pending> pending;
  const auto enqueue = [&](const std::string& from, std::string_view contents) {
    for (std::string& name : quoted_includes(contents)) {
      if (seen.insert(name).second) pending.push_back({std::move(name), from});
    }
  };
  enqueue(out.name, out.contents);
  for (std::size_t next = 0; next < pending.size(); ++next) {
    if (next == kMaxHeaders) return tl::unexpected<Error>(too_large("this one has more headers"));
    const Pending include = pending[next];
    auto header = read_include(include.name, source_path.parent_path(), read_file, shipped_headers);
    if (!header) return fail(std::move(header.error()), fmt::format("{} includes \"{}\"", include.from, include.name));
    TRY(check_includes(include.name, *header));
    bytes += header->size();
    if (bytes > kMaxSourceBytes) return tl::unexpected<Error>(too_large("this one has more text"));
    enqueue(include.name, *header);
    out.headers.push_back({include.name, std::move(*header)});
  }
  std::sort(out.headers.begin(), out.headers.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  return out;
}

std::string hash_text(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string hash_template(const TemplateSource& source, std::string_view canonical_json) {
  std::string fields;
  append_field(fields, source.contents);
  for (const SourceFile& header : source.headers) {
    append_field(fields, header.name);
    append_field(fields, header.contents);
  }
  append_field(fields, canonical_json);
  return hash_text(fields);
}

}  // namespace pgtune::space
