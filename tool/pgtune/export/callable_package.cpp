// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/callable_package.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "pgtune_package.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tool/pgtune/export/operation_code.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/epilogue.hpp"

namespace pgtune::tool {
namespace {

std::string package_file(std::string_view name) {
  for (const embedded::File& file : embedded::pgtune_package()) {
    if (file.path == name) return std::string(file.contents);
  }
  throw std::logic_error("there is no " + std::string(name));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// In one pass: what was put in may contain such words itself. The first one that fits counts.
std::string with_words(std::string_view text,
                       std::initializer_list<std::pair<std::string_view, std::string_view>> words) {
  std::string out;
  while (!text.empty()) {
    const auto* const word =
        std::find_if(words.begin(), words.end(), [&](const auto& one) { return text.starts_with(one.first); });
    const bool found = word != words.end();
    out += found ? word->second : text.substr(0, 1);
    text.remove_prefix(found ? word->first.size() : 1);
  }
  return out;
}

template <typename Words>
std::string c_words(std::string_view kind, const Words& words, std::string_view first = "") {
  std::string out;
  if (!first.empty()) out = fmt::format("  pgtune_export_{}_{}", kind, first);
  for (const auto word : words)
    out += fmt::format("{}  pgtune_export_{}_{}", out.empty() ? "" : ",\n", kind, to_string(word));
  return "enum {\n" + out + "\n};\n";
}

/// A section is between lines with its name and a brace. Removes these lines, and the section unless it is kept.
void keep_section(std::string& text, const std::string& name, bool kept) {
  const auto line_of = [&](const std::string& marker, std::size_t from) {
    const std::size_t found = text.find(marker, from);
    if (found == std::string::npos) return std::pair(found, found);
    return std::pair(text.rfind('\n', found) + 1, text.find('\n', found) + 1);
  };
  for (auto opening = line_of(name + " {", 0); opening.first != std::string::npos;
       opening = line_of(name + " {", opening.first)) {
    const auto closing = line_of(name + " }", opening.first);
    const std::string inner = text.substr(opening.second, closing.first - opening.second);
    text.replace(opening.first, closing.second - opening.first, kept ? inner : "");
  }
}

/// "softmax_bf16: sizes M, N; buffers X (in, bf16), Y (out, bf16)"
std::string operation_list(const CallableHeader& content, const Problem& kind) {
  const OperationProblem& operation = *kind.operation;
  std::vector<std::string> sizes, buffers, scalars;
  for (const NamedValue& size : operation.sizes) sizes.push_back(size.name);
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    const OperationBuffer& buffer = operation.buffers[i];
    buffers.push_back(fmt::format("{} ({}, {}{})", buffer.name, to_string(buffer.role), buffer.type_text(),
                                  may_be_null(content, operation, i) ? ", may be null" : ""));
  }
  for (const NamedScalar& scalar : operation.scalars)
    scalars.push_back(fmt::format("{} ({})", scalar.name, scalar.value));
  return fmt::format(" *   {}: sizes {}; buffers {}{}{}\n", kind_name(kind), fmt::join(sizes, ", "),
                     fmt::join(buffers, ", "), scalars.empty() ? "" : "; scalars ", fmt::join(scalars, ", "));
}

void replace_operations(std::string& text, const CallableHeader& content) {
  std::string calls, lists, words;
  for (const Problem& kind : operation_kinds(content)) {
    calls += fmt::format("PGTUNE_OPERATION({})\n", kind_name(kind));
    lists += operation_list(content, kind);
    words += fmt::format("{}  pgtune_export_operation_{}", words.empty() ? "" : ",\n", kind_name(kind));
  }
  replace_all(text, "/* PGTUNE_OPERATION_CALLS */", calls);
  replace_all(text, "PGTUNE_OPERATION_LISTS", lists);
  replace_all(text, "PGTUNE_OPERATION_WORDS", words);
}

/// In words of 64 bits, and more than a Gemm or an operation's call needs; interface.cpp checks it.
std::size_t words_of_call(const CallableHeader& content) {
  const CallableSizes sizes = callable_sizes(content);
  return (512 + sizes.kernels * (128 + 16 * sizes.arguments) + sizes.maps * 288) / 8;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace

std::string package_name(const std::string& name_space) {
  std::string name = name_space;
  replace_all(name, "::", "_");
  return name;
}

std::string package_text(const CallableHeader& content, std::string_view file) {
  const std::string name = package_name(content.name_space);
  std::string text = package_file(file);
  replace_all(text, "/* PGTUNE_WORDS */",
              c_words("type", all_dtypes()) + c_words("element", all_element_types(), "usual") +
                  c_words("activation", all_activations()));
  for (const char* words : {"PGTUNE_WORDS_OF_GEMM", "PGTUNE_WORDS_OF_CALL"})
    replace_all(text, words, std::to_string(words_of_call(content)));
  // The consumer's own path of CUDA's headers.
  replace_all(
      text, "PGTUNE_PREPARE",
      content.jit ? "exported::prepare(device, {nullptr, nullptr, PGTUNE_CUDA_INCLUDE})" : "exported::prepare(device)");
  keep_section(text, "PGTUNE_GEMMS", has_gemms(content));
  keep_section(text, "PGTUNE_OPERATIONS", !content.operations.empty());
  replace_operations(text, content);
  return with_words(text, {{"PGTUNE_VERSION", content.pgtune_version},
                           {"pgtune_namespace", content.name_space},
                           {"pgtune_export.hpp", content.file_name},
                           {"PGTUNE_EXPORT", upper(name)},
                           {"pgtune_export", name}});
}

std::vector<PackageFile> write_package(const CallableHeader& content) {
  const std::string name = package_name(content.name_space);
  const auto file = [&](std::string_view source) { return package_text(content, source); };
  ExportedText split = write_split_header(content);
  const std::string cmake = fmt::format("lib/cmake/{0}/{0}Config", name);
  return {{cmake + ".cmake", file("config.cmake")},
          {cmake + "Version.cmake", file("config-version.cmake")},
          {fmt::format("include/{}.hpp", name), std::move(split.header)},
          {fmt::format("include/{}.h", name), file("interface.h")},
          {fmt::format("src/{}.cpp", name), std::move(split.source)},
          {fmt::format("src/{}_c.cpp", name), file("interface.cpp")},
          {fmt::format("header-only/{}.hpp", name), write_callable_header(content)}};
}

}  // namespace pgtune::tool
