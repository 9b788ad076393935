// SPDX-License-Identifier: MIT
// Text in any of a database's columns that hold records or words: read, copied and written again.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/fuzz/read_and_write.hpp"
#include "tests/fuzz/targets.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/model/json.hpp"
#include "tuner/model/kernel_counters.hpp"
#include "tuner/session/answer_json.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::fuzz {
namespace {

/// Columns that hold no text end with one of these.
constexpr std::array<std::string_view, 2> kNumbers{".launches", ".time_s"};

}  // namespace

void record_text(std::string_view bytes) {
  const std::string text = as_utf8(bytes);  // as it comes out of a database
  read_and_write<session::Answer>(text);
  read_and_write<DeviceInfo>(text);
  read_and_write<Problem>(text);
  read_and_write<Conditions>(text);
  read_and_write<BaselineReport>(text);
  read_and_write<Ceilings>(text);
  read_and_write<KernelCounters>(text);
  for (const auto& check : tool::record_checks()) {
    const bool of_number = std::any_of(kNumbers.begin(), kNumbers.end(),
                                       [&](std::string_view suffix) { return check.first.ends_with(suffix); });
    const auto problem = of_number ? std::nullopt : check.second(text);
    // It becomes part of a message.
    if (problem && (problem->size() > 4096 || as_utf8(*problem) != *problem)) std::abort();
  }
}

}  // namespace pgtune::fuzz
