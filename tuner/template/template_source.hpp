// SPDX-License-Identifier: MIT
// A template's source with all quoted includes, and the hash over it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/template/template_definition.hpp"

namespace pgtune::space {

struct Include {
  std::string name;
  bool quoted = true;     ///< or in angle brackets
  std::size_t place = 0;  ///< of the name in the text

  friend bool operator==(const Include&, const Include&) = default;
};
/// Names in include directives outside comments, in order. Conditional compilation is not looked at: what is included
/// under any condition is listed.
[[nodiscard]] std::vector<Include> includes_of(std::string_view source);

/// What stands in for a header of the host's compiler, which NVRTC has none of: it forwards to the toolkit's
/// <cuda/std/...>, or has the macros itself. Nothing for any other name.
[[nodiscard]] std::optional<std::string> standard_header(std::string_view name);

/// The first include directive (also #include_next, #import, #embed) that names no plain path below its lookup folder:
/// an absolute path, one with a ".." or a backslash, or a macro, whose text is unknown. Directives in comments and
/// strings count too, because text that a lexer must understand could also deceive it. Nothing if there is none.
[[nodiscard]] std::optional<std::string> forbidden_include(std::string_view source);

/// Whether `path` is a relative one that stays in its folder.
[[nodiscard]] bool stays_below(std::string_view path);

/// Reads the source at `path` (relative to the JSON) and, transitively, what it includes. A quoted include, also one
/// inside a header, is looked up relative to the source's folder and then among `shipped_headers` (may be empty). Then
/// both kinds are looked for in `folders`, each of which reads a name below it, and among the standard headers; what is
/// in none of them is the toolkit's. A header of one of the folders may also include what lies beside it.
/// Refuses forbidden includes. `read_file` is asked for the source first, so that it knows the folder to stay in.
/// `field` names the source in messages.
[[nodiscard]] Result<TemplateSource> read_template_source(const std::string& path, const FileReader& read_file,
                                                          const FileReader& shipped_headers,
                                                          const std::vector<FileReader>& folders = {},
                                                          const std::string& field = "source");

/// hash_text() over the length-prefixed source text, headers (name, text) by name, and `canonical_json`.
/// File names of source and JSON do not count.
[[nodiscard]] std::string hash_template(const TemplateSource& source, std::string_view canonical_json);

}  // namespace pgtune::space
