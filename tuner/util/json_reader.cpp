// SPDX-License-Identifier: MIT
#include "tuner/util/json_reader.hpp"

#include <fmt/format.h>

#include "tuner/util/json_depth.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune {

std::string cause_of(const nlohmann::json::exception& error) {
  std::string_view cause = error.what();
  // "[json.exception.type_error.302] type must be ...": drops the exception's name.
  if (const std::size_t name_end = cause.find("] "); cause.starts_with('[') && name_end != std::string_view::npos)
    cause.remove_prefix(name_end + 2);
  return excerpt(cause, 200);
}

Result<nlohmann::json> parse_untrusted_json(std::string_view text) {
  if (text.empty()) return fail(ErrorKind::kDatabase, "it is empty");
  if (json_too_deep(text)) return fail(ErrorKind::kDatabase, fmt::format("nested more than {} deep", kMaxJsonDepth));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorKind::kDatabase, cause_of(error));
  }
}

}  // namespace pgtune
