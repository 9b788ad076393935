// SPDX-License-Identifier: MIT
// A file linked into a program by pgtune_embed (cmake/EmbedFiles.cmake).
#pragma once

#include <string_view>

namespace pgtune::embedded {

struct File {
  std::string_view path;  ///< relative to the folder named as BASE
  std::string_view contents;
};

}  // namespace pgtune::embedded
