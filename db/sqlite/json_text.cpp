// SPDX-License-Identifier: MIT
#include "db/sqlite/json_text.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "tuner/util/utf8.hpp"

namespace pgtune::db {

void append_json(std::string& out, std::string_view text) { out += nlohmann::json(as_utf8(text)).dump(); }

void append_json(std::string& out, const Value& value) {
  const auto append = [&](const auto& content) {
    using Content = std::decay_t<decltype(content)>;
    if constexpr (std::is_same_v<Content, std::string>) {
      append_json(out, std::string_view(content));
    } else if constexpr (std::is_same_v<Content, std::monostate>) {
      out += "null";
    } else if (std::isinf(static_cast<double>(content))) {
      out += content > 0 ? "1e999" : "-1e999";
    } else {
      out += nlohmann::json(content).dump();
    }
  };
  std::visit(append, value);
}

}  // namespace pgtune::db
