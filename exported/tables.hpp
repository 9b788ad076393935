// SPDX-License-Identifier: MIT
// The rows of the generated tables.
#pragma once

#include "exported/plan.hpp"

namespace pgtune_export::detail {

/// A cubin, or a fatbin with one in it.
struct Image {
  const char* text;            ///< as decode() reads it
  std::size_t words;           ///< of 32 bits
  const char* const* symbols;  ///< of its template
  int symbol_count;
  int arch;        ///< compute capability times ten
  bool only_arch;  ///< of exactly that capability ("sm_90a"); else of its major version, from that minor one on
};

/// A source, or what sources include.
struct JitFile {
  const char *name, *text;
};

/// How an image is compiled, in a header that holds sources instead.
struct JitImage {
  int source;          ///< of kFiles
  const int* headers;  ///< of kFiles
  int header_count;
  const char* const* options;
  int option_count;
  const char* const* expressions;  ///< kernels that the template names in C++
  int expression_count;
  const char* key;  ///< a hash of all of these
};

struct VariantRow {
  int template_number, image;
  const Int* parameters;  ///< in the order of the template
  const Int* built;       ///< its macros that depend on problem or device
  int kind;               ///< what it was compiled for: types and epilogue of GEMM, or an operation in a type
};

}  // namespace pgtune_export::detail
