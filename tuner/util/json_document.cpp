// SPDX-License-Identifier: MIT
// Parses text to JSON, with syntax errors that point at the character.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tuner/util/caret.hpp"
#include "tuner/util/json_cursor.hpp"
#include "tuner/util/json_depth.hpp"

namespace pgtune {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{4} << 20;

/// nlohmann's parser silently keeps the last of two equal keys; this stores the name of the first such key.
class DuplicateKeys {
 public:
  bool operator()(nlohmann::json::parse_event_t event, const nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) {
      open_.emplace_back();
    } else if (event == Event::object_end) {
      open_.pop_back();
    } else if (event == Event::key && !open_.back().insert(value.get<std::string>()).second && first_.empty()) {
      first_ = value.get<std::string>();
    }
    return true;
  }
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string first_;
};

/// The parser's own text starts after "[json.exception.parse_error.101] parse error at line 1, column 2: ".
std::string_view reason_of(std::string_view what) {
  const std::size_t column = what.find("column");
  const std::size_t colon = column == std::string_view::npos ? column : what.find(": ", column);
  return colon == std::string_view::npos ? what : what.substr(colon + 2);
}

Error syntax_error(std::string_view text, const std::string& origin, const nlohmann::json::parse_error& problem) {
  const std::size_t at = std::min(problem.byte > 0 ? problem.byte - 1 : 0, text.size());
  const std::size_t previous = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = previous == std::string_view::npos ? 0 : previous + 1;
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return Error{ErrorKind::kUsage,
               with_caret(fmt::format("{}:{}:{}: {}", origin, line, at - begin + 1, reason_of(problem.what())),
                          text.substr(begin, end - begin), at - begin),
               {}};
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, const std::string& origin) {
  if (text.size() > kMaxTextBytes) {
    return fail(ErrorKind::kUsage, fmt::format("{}: {} bytes are too many for a template's JSON (the limit is {})",
                                               origin, text.size(), kMaxTextBytes));
  }
  DuplicateKeys keys;
  const bool too_deep = json_too_deep(text);
  try {
    nlohmann::json document = nlohmann::json::parse(
        text.begin(), text.end(),
        [&](int /*depth*/, nlohmann::json::parse_event_t event, nlohmann::json& value) { return keys(event, value); });
    if (too_deep) return fail(ErrorKind::kUsage, fmt::format("{}: nested more than {} deep", origin, kMaxJsonDepth));
    if (!keys.first().empty()) {
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: the field '{}' appears twice in one object; keep one", origin, keys.first()));
    }
    return document;
  } catch (const nlohmann::json::parse_error& problem) {
    return tl::unexpected<Error>(syntax_error(text, origin, problem));
  } catch (const nlohmann::json::exception& problem) {  // e.g. a number out of range
    return fail(ErrorKind::kUsage, fmt::format("{}: {}", origin, problem.what()));
  }
}

}  // namespace pgtune
