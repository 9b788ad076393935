// SPDX-License-Identifier: MIT
// The page that `pgtune report --html` writes: one file, with its data, its style and its script (page/assets).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/page/page_data.hpp"

namespace pgtune::tool {

/// `data` as text inside <script type="application/json">. No content of a database can end the element or begin
/// another, and invalid UTF-8 is replaced.
[[nodiscard]] std::string json_in_html(const nlohmann::json& data);

/// The whole page, with the scripts of the sections. Its Content-Security-Policy runs pgtune's own script alone, by its
/// hash, and loads nothing.
[[nodiscard]] std::string write_page(const nlohmann::json& data, const std::vector<PageSection>& sections);

}  // namespace pgtune::tool
