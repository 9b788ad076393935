// SPDX-License-Identifier: MIT
// An operation's JSON: parsing, and its problem at small and at huge sizes, which a worker may be handed.
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <limits>

#include "tests/fuzz/targets.hpp"
#include "tuner/model/json.hpp"
#include "tuner/operation/operation_definition.hpp"

namespace pgtune::fuzz {

void operation_json(std::string_view bytes) {
  const auto any_file = [](const std::string&) -> Result<std::string> { return std::string("// a kernel\n"); };
  static_cast<void>(operation::parse_sizes(bytes.substr(0, 64)));
  const auto definition = operation::parse_operation(bytes, "fuzz.json", any_file);
  if (!definition) return;
  static_cast<void>(definition->interface());
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{96}, std::numeric_limits<std::int64_t>::max() / 3}) {
    std::vector<NamedValue> sizes;
    for (const operation::Dimension& dimension : definition->dimensions) sizes.push_back({dimension.name, size});
    const auto problem = operation::make_problem(*definition, sizes, std::nullopt);
    // What is made of an operation is what may come back from a database.
    if (problem && nlohmann::json(*problem).get<Problem>() != *problem) std::abort();
  }
}

}  // namespace pgtune::fuzz
