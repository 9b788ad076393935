// SPDX-License-Identifier: MIT
#include "tuner/template/template_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tuner/util/hash_text.hpp"

namespace pgtune::space {
namespace {

constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;

Error too_large(std::string_view what) {
  return Error{
      ErrorKind::kUsage,
      fmt::format("a template's source may have {} headers and {} MiB; {}", kMaxHeaders, kMaxSourceBytes >> 20, what),
      {}};
}

Result<void> check_includes(const std::string& name, std::string_view contents) {
  const auto forbidden = forbidden_include(contents);
  if (!forbidden) return {};
  return fail(ErrorKind::kUsage, fmt::format("{} has '{}': a template includes by plain names below its own folder, "
                                             "without '..', macros or absolute paths, or the toolkit's headers",
                                             name, *forbidden));
}

/// Reads a source and all that it includes, each once.
class SourceReader {
 public:
  SourceReader(std::filesystem::path folder, const FileReader& read_file, const FileReader& shipped_headers,
               const std::vector<FileReader>& folders)
      : folder_(std::move(folder)), read_file_(read_file), shipped_headers_(shipped_headers), folders_(folders) {}

  /// The source's headers, by name. Changes no text of the source.
  Result<std::vector<SourceFile>> headers_of(const TemplateSource& source) {
    bytes_ = source.contents.size();
    for (const Include& include : includes_of(source.contents)) TRY(add(include, source.name));
    // The list grows while it is gone through.
    for (std::size_t next = 0; next < found_.size(); ++next) {
      if (found_[next].folder) {
        for (const Include& include : includes_of(found_[next].file.contents)) {
          if (include.quoted) TRY(add_neighbour(next, include));
        }
      }
      TRY(check_includes(found_[next].file.name, found_[next].file.contents));
      for (const Include& include : includes_of(found_[next].file.contents)) TRY(add(include, found_[next].file.name));
      if (found_.size() > kMaxHeaders) return tl::unexpected<Error>(too_large("this one has more headers"));
      bytes_ += found_[next].file.contents.size();
      if (bytes_ > kMaxSourceBytes) return tl::unexpected<Error>(too_large("this one has more text"));
    }
    std::vector<SourceFile> out;
    for (Found& one : found_) out.push_back(std::move(one.file));
    std::sort(out.begin(), out.end(), [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
    return out;
  }

 private:
  struct Found {
    SourceFile file;
    std::optional<std::size_t> folder = {};  ///< of folders_; nothing: the source's own, shipped or standard
  };

  Result<void> add(const Include& include, const std::string& from) {
    if (names_.contains(include.name)) return {};
    std::optional<Error> missing;
    if (include.quoted) {
      auto text = read_file_((folder_ / include.name).lexically_normal().generic_string());
      if (!text && shipped_headers_) {
        auto shipped = shipped_headers_(include.name);
        if (shipped) text = std::move(shipped);
      }
      if (text) return keep({{include.name, std::move(*text)}, {}});
      missing = std::move(text.error());
    }
    for (std::size_t i = 0; i < folders_.size(); ++i) {
      if (auto text = folders_[i](include.name)) return keep({{include.name, std::move(*text)}, i});
    }
    if (auto text = standard_header(include.name)) return keep({{include.name, std::move(*text)}, {}});
    const bool of_library = std::any_of(found_.begin(), found_.end(),
                                        [&](const Found& one) { return one.folder && one.file.name == from; });
    // Libraries have includes that only other compilers come to.
    if (!missing || of_library) return {};
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} includes \"{}\": {}; it is no header shipped with pgtune either. Includes are relative to "
                    "the source's folder (also those inside headers), or below one of \"include_folders\"; the "
                    "toolkit's headers go in angle brackets",
                    from, include.name, missing->text()));
  }

  /// Does nothing where nothing of that name lies beside header `from` in its folder. NVRTC knows each header by one
  /// name, so the header then includes it by its name below the folder.
  Result<void> add_neighbour(std::size_t from, const Include& include) {
    const std::size_t folder = *found_[from].folder;
    const std::filesystem::path beside = std::filesystem::path(found_[from].file.name).parent_path() / include.name;
    const std::string name = beside.lexically_normal().generic_string();
    if (!stays_below(name)) return {};
    auto text = folders_[folder](name);
    if (!text) return {};
    std::string& contents = found_[from].file.contents;
    // Includes before it may have become longer.
    if (const std::size_t place = contents.find('"' + include.name + '"', include.place - 1);
        place != std::string::npos)
      contents.replace(place + 1, include.name.size(), name);
    const auto known =
        std::find_if(found_.begin(), found_.end(), [&](const Found& one) { return one.file.name == name; });
    if (known == found_.end()) return keep({{name, std::move(*text)}, folder});
    if (known->file.contents == *text || known->folder == folder) return {};
    return fail(ErrorKind::kUsage,
                fmt::format("{} includes \"{}\", and there is another {} that is included by this name",
                            found_[from].file.name, include.name, name));
  }

  Result<void> keep(Found found) {
    names_.insert(found.file.name);
    found_.push_back(std::move(found));
    return {};
  }

  std::filesystem::path folder_;
  const FileReader& read_file_;
  const FileReader& shipped_headers_;
  const std::vector<FileReader>& folders_;
  std::vector<Found> found_;
  std::set<std::string> names_;
  std::size_t bytes_ = 0;
};

/// Fields are told apart by their lengths, so moving text from one to the next changes the hash.
void append_field(std::string& out, std::string_view field) {
  out += fmt::format("{}:", field.size());
  out += field;
}

}  // namespace

Result<TemplateSource> read_template_source(const std::string& path, const FileReader& read_file,
                                            const FileReader& shipped_headers, const std::vector<FileReader>& folders,
                                            const std::string& field) {
  const std::filesystem::path source_path = std::filesystem::path(path).lexically_normal();
  if (source_path.is_absolute() || source_path.extension() != ".cu") {
    return fail(ErrorKind::kUsage,
                fmt::format("{}: '{}' must be a .cu file, by a path relative to the JSON", field, path));
  }
  auto text = read_file(source_path.generic_string());
  if (!text) return fail(std::move(text.error()), field);
  TRY(check_includes(source_path.filename().string(), *text));
  TemplateSource out{source_path.filename().string(), std::move(*text), {}};
  TRY_ASSIGN(out.headers, SourceReader(source_path.parent_path(), read_file, shipped_headers, folders).headers_of(out));
  return out;
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
