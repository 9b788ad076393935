// SPDX-License-Identifier: MIT
#include "tool/pgtune/doctor/doctor_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tool/pgtune/cli/terminal/text_table.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr std::size_t kNameWidth = 16, kStateWidth = 9;

std::string_view state_name(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kNote:
      return "note";
    case CheckState::kMissing:
      return "missing";
  }
  return "";
}

Style style_of(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return Style::kGood;
    case CheckState::kNote:
      return Style::kBold;
    case CheckState::kMissing:
      return Style::kBad;
  }
  return Style::kPlain;
}

/// `text` in lines after `first` and, from the second on, as many blanks.
std::string wrapped_after(const std::string& first, std::size_t first_width, const std::string& text) {
  std::string out = first;
  const std::vector<std::string> lines = wrap_text(text, kTextWidth - first_width);
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : std::string(first_width, ' ')) + lines[i] + '\n';
  return out;
}

}  // namespace

Check failed_check(std::string name, CheckState state, const std::string& message) {
  const std::size_t end = std::min(message.find("; "), message.find(". "));
  if (end == std::string::npos) return {std::move(name), state, message, ""};
  return {std::move(name), state, message.substr(0, end), message.substr(end + 2)};
}

std::string checks_text(const std::vector<Check>& checks, const Terminal& terminal) {
  std::string text;
  for (const Check& check : checks) {
    // Padded outside the styled text: escape sequences have no width.
    const std::string_view state = state_name(check.state);
    const std::string head = fmt::format("{:<{}}", check.name, kNameWidth) +
                             terminal.styled(style_of(check.state), state) +
                             std::string(kStateWidth - state.size(), ' ');
    text += wrapped_after(head, kNameWidth + kStateWidth, check.finding);
    if (!check.remedy.empty()) text += wrapped_after("  -> ", 5, check.remedy);
  }
  return text;
}

json checks_json(const std::vector<Check>& checks) {
  json out = json::array();
  for (const Check& check : checks) {
    out.push_back({{"name", check.name}, {"state", state_name(check.state)}, {"finding", check.finding}});
    if (!check.remedy.empty()) out.back()["remedy"] = check.remedy;
  }
  return out;
}

}  // namespace pgtune::tool
