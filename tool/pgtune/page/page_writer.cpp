// SPDX-License-Identifier: MIT
#include "tool/pgtune/page/page_writer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "pgtune_page.hpp"
#include "tuner/util/sha256.hpp"

namespace pgtune::tool {
namespace {

/// Joined in this order they are one script.
constexpr std::string_view kScripts[] = {"format.js",   "dom.js",   "scale.js", "chart.js",
                                         "overview.js", "table.js", "plots.js", "detail.js"};

std::string_view asset(std::string_view name) {
  for (const embedded::File& file : embedded::pgtune_page()) {
    if (file.path == name) return file.contents;
  }
  return {};
}

/// `text` with each "@NAME@" replaced by `value_of` NAME; replacements are not expanded again.
template <typename ValueOf>
std::string filled(std::string_view text, const ValueOf& value_of) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find('@');
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('@', begin + 1);
    if (end == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, begin)).append(value_of(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string json_in_html(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  // These occur only in strings, where JSON allows this spelling.
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string write_page(const nlohmann::json& data, const std::vector<PageSection>& sections) {
  std::string script = "\"use strict\";\n";
  for (const std::string_view name : kScripts) script.append(asset(name));
  for (const PageSection& section : sections) script.append(section.report.script);
  script.append(asset("main.js"));
  const std::string_view style = asset("page.css");
  return filled(asset("page.html"), [&](std::string_view name) -> std::string {
    if (name == "STYLE") return std::string(style);
    if (name == "SCRIPT") return script;
    if (name == "STYLE_HASH") return sha256_base64(style);
    if (name == "SCRIPT_HASH") return sha256_base64(script);
    return json_in_html(data);
  });
}

}  // namespace pgtune::tool
