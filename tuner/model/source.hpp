// SPDX-License-Identifier: MIT
// What NVRTC is given: a template's text and the macros that make one variant of it.
#pragma once

#include <cstddef>
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

inline constexpr std::size_t kMaxHeaders = 900;  ///< of one source

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

/// A kernel that is built in a module of its own, because it is the same in many variants.
struct KernelModule {
  std::string symbol;
  std::string header;           ///< of the source's headers: it has this kernel
  std::vector<Define> defines;  ///< all that the header reads

  PGTUNE_FIELDS(symbol, header, defines)
  friend bool operator==(const KernelModule&, const KernelModule&) = default;
};

/// Defined where a template's own text is compiled without its KernelModules.
inline constexpr const char* kSeparateModules = "PGTUNE_SEPARATE_MODULES";

}  // namespace pgtune
