// SPDX-License-Identifier: MIT
// `pgtune export header --library DIR`: a CMake package with the kernels for C++ and C.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

struct PackageFile {
  std::string path;  ///< relative to the package's folder
  std::string text;
};

/// One of the files of exported/package in the names of the export.
[[nodiscard]] std::string package_text(const CallableHeader& content, std::string_view file);

/// The name of the package and the prefix of the C functions: the namespace, with _ for ::.
[[nodiscard]] std::string package_name(const std::string& name_space);

/// The package's files: a config file for CMake, the header and its source, the C interface, and the header that
/// contains everything. content.file_name is package_name() with .hpp. The same content gives the same files.
[[nodiscard]] std::vector<PackageFile> write_package(const CallableHeader& content);

}  // namespace pgtune::tool
