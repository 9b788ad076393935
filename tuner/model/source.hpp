// SPDX-License-Identifier: MIT
// What NVRTC is given: a template's text and the macros that make one variant of it.
#pragma once

#include <string>
#include <vector>

#include "tuner/util/fields.hpp"

namespace pgtune {

/// A file NVRTC may include by name, e.g. {"device/cp_async.cuh", "..."}.
struct SourceFile {
  std::string name;
  std::string contents;

  PGTUNE_FIELDS(name, contents)
  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

/// A template's text: the same for every variant, so it is shared.
struct TemplateSource {
  std::string name;  ///< for messages, e.g. "sgemm_simt.cu"
  std::string contents;
  std::vector<SourceFile> headers;

  PGTUNE_FIELDS(name, contents, headers)
  friend bool operator==(const TemplateSource&, const TemplateSource&) = default;
};

/// One preprocessor definition, "-DNAME=VALUE".
struct Define {
  std::string name;
  std::string value;

  PGTUNE_FIELDS(name, value)
  friend bool operator==(const Define&, const Define&) = default;
};

}  // namespace pgtune
