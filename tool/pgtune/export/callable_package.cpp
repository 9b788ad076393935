// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/callable_package.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string_view>

#include "pgtune_package.hpp"
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

template <typename Words>
std::string c_words(std::string_view kind, const Words& words, std::string_view first = "") {
  std::string out;
  if (!first.empty()) out = fmt::format("  pgtune_export_{}_{}", kind, first);
  for (const auto word : words)
    out += fmt::format("{}  pgtune_export_{}_{}", out.empty() ? "" : ",\n", kind, to_string(word));
  return "enum {\n" + out + "\n};\n";
}

/// In words of 64 bits, and rather more than a Gemm has: interface.cpp has it checked.
std::size_t words_of_gemm(const CallableHeader& content) {
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
  replace_all(text, "PGTUNE_WORDS_OF_GEMM", std::to_string(words_of_gemm(content)));
  // CUDA's headers where the consumer itself found them.
  replace_all(text, "PGTUNE_PREPARE",
              content.jit ? "exported::prepare(device, {nullptr, nullptr, PGTUNE_CUDA_INCLUDE})"
                          : "exported::Gemm::prepare(device)");
  replace_all(text, "PGTUNE_VERSION", content.pgtune_version);
  replace_all(text, "pgtune_namespace", content.name_space);
  replace_all(text, "pgtune_export.hpp", content.file_name);
  replace_all(text, "PGTUNE_EXPORT", upper(name));
  replace_all(text, "pgtune_export", name);
  return text;
}

std::vector<PackageFile> write_package(const CallableHeader& content) {
  const std::string name = package_name(content.name_space);
  const auto file = [&](std::string_view source) { return package_text(content, source); };
  SplitHeader split = write_split_header(content);
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
