// SPDX-License-Identifier: MIT
// The tables of a callable header: images, parameters, variants, entries, device classes, losses.
#pragma once

#include <string>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

[[nodiscard]] std::string tables(const CallableHeader& content, const std::string& content_hash);

}  // namespace pgtune::tool
