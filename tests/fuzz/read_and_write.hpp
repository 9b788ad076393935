// SPDX-License-Identifier: MIT
// A promise that all records keep.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "tuner/util/fields_json.hpp"
#include "tuner/util/json_reader.hpp"

namespace pgtune::fuzz {

/// What could be read can be written, and reads the same again.
template <typename Record>
void read_and_write(std::string_view text) {
  const auto record = read_untrusted_json<Record>(text);
  if (!record) return;
  const std::string written = nlohmann::json(*record).dump();
  const auto again = read_untrusted_json<Record>(written);
  if (!again || nlohmann::json(*again).dump() != written) std::abort();
}

}  // namespace pgtune::fuzz
