// SPDX-License-Identifier: MIT
#include "tuner/util/fields.hpp"

#include <fmt/format.h>

namespace pgtune {

tl::unexpected<Error> impossible_number_error(const ImpossibleNumber& number, std::string_view what) {
  return fail(ErrorKind::kDatabase,
              fmt::format("{} with the impossible number {} as {}", what, number.value, number.field));
}

}  // namespace pgtune
