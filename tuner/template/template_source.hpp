// SPDX-License-Identifier: MIT
// A template's source with all quoted includes, and the hash over it. Private to tuner/space.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

/// Names in #include "..." directives outside comments, in order. Includes in angle brackets are the toolkit's.
/// Conditional compilation is ignored: includes under any condition are listed.
[[nodiscard]] std::vector<std::string> quoted_includes(std::string_view source);

/// The first include directive (also #include_next, #import, #embed) that names no plain path below its lookup folder:
/// an absolute path, one with a ".." or a backslash, or a macro, whose text is unknown. Directives in comments and
/// strings count too, because text that a lexer must understand could also deceive it. Nothing if there is none.
[[nodiscard]] std::optional<std::string> forbidden_include(std::string_view source);

/// Whether `path` is a relative one that stays in its folder.
[[nodiscard]] bool stays_below(std::string_view path);

/// Reads the source at `path` (relative to the JSON) and, transitively, its quoted includes. Every include, also one
/// inside a header, is looked up relative to the source's folder and then among `shipped_headers` (may be empty).
/// Refuses forbidden includes. Calls `read_file` for the source first, which sets the folder for the rest.
[[nodiscard]] Result<TemplateSource> read_template_source(const std::string& path, const FileReader& read_file,
                                                          const FileReader& shipped_headers);

/// XXH3-128 in hex.
[[nodiscard]] std::string hash_text(std::string_view text);

/// XXH3-128, in hex, over the length-prefixed source text, headers (name, text) by name, and `canonical_json`.
/// File names of source and JSON do not count.
[[nodiscard]] std::string hash_template(const TemplateSource& source, std::string_view canonical_json);

}  // namespace pgtune::space
