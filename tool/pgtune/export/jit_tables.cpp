// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/jit_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tuner/template/template_source.hpp"

namespace pgtune::tool {
namespace {

/// A literal of any text, line by line. Question marks are escaped, so that none of them makes a trigraph.
std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n\"\n\"";
    } else if (c == '"' || c == '\\' || c == '?') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Files {
 public:
  /// The file's number.
  std::size_t add(const std::string& name, const std::string& contents) {
    const SourceFile file{name, contents};
    const auto known = std::find(files_.begin(), files_.end(), file);
    const auto number = static_cast<std::size_t>(known - files_.begin());
    if (known == files_.end()) files_.push_back(file);
    return number;
  }
  [[nodiscard]] std::string text() const {
    std::string rows;
    for (const SourceFile& file : files_)
      rows += fmt::format("    {{{}, {}}},\n", literal(file.name), literal(file.contents));
    return fmt::format("inline constexpr JitFile kFiles[] = {{\n{}}};\n", rows);
  }

 private:
  std::vector<SourceFile> files_;
};

}  // namespace

std::string jit_tables(const CallableHeader& content) {
  Files files;
  std::string arrays, rows;
  std::size_t most_headers = 1, most_options = 1;
  for (std::size_t i = 0; i < content.images.size(); ++i) {
    const KernelImage& image = content.images[i];
    const TemplateSource& source = *content.templates[image.template_number].source;
    const std::size_t main = files.add(source.name, source.contents);
    std::vector<std::size_t> headers;
    std::string hashed = source.name + source.contents;
    for (const SourceFile& header : source.headers) {
      headers.push_back(files.add(header.name, header.contents));
      hashed += header.name + header.contents;
    }
    std::vector<std::string> options;
    for (const Define& define : image.defines) {
      options.push_back(literal(fmt::format("-D{}={}", define.name, define.value)));
      hashed += options.back();
    }
    const std::size_t header_count = headers.size(), option_count = options.size();
    if (headers.empty()) headers.push_back(0);
    if (options.empty()) options.emplace_back("nullptr");
    arrays += fmt::format(
        "inline constexpr int kHeaders{0}[] = {{{1}}};\ninline constexpr const char* kOptions{0}[] = {{{2}}};\n", i,
        fmt::join(headers, ", "), fmt::join(options, ", "));
    rows += fmt::format("    {{{0}, kHeaders{1}, {2}, kOptions{1}, {3}, \"{4}\"}},\n", main, i, header_count,
                        option_count, space::hash_text(hashed));
    most_headers = std::max(most_headers, header_count);
    most_options = std::max(most_options, option_count);
  }
  return files.text() + arrays +
         fmt::format(
             "inline constexpr JitImage kJitImages[] = {{\n{}}};\nconstexpr int kMaxHeaders = {}, kMaxOptions = {};\n",
             rows, most_headers, most_options);
}

}  // namespace pgtune::tool
