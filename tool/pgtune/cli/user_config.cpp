// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/user_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Far above any GPU's clock and any machine's cores: larger numbers are typing errors.
constexpr std::int64_t kMaxMhz = 10'000, kMaxJobs = 4096;
constexpr std::size_t kMaxConfigBytes = 1U << 16U;

/// One file being read, with the context for errors.
class Reader {
 public:
  Reader(const fs::path& file, const Environment& environment) : file_(file), environment_(environment) {}

  [[nodiscard]] std::string contents() const;
  [[nodiscard]] UserConfig read(const std::string& text) const;

 private:
  [[noreturn]] void refuse(const std::string& cause) const {
    throw CommandError(ErrorKind::kUsage, fmt::format("configuration {}: {}", file_.string(), cause));
  }
  [[noreturn]] void refuse_value(const std::string& key, const json& value, std::string_view allowed) const {
    // Printing recurses with the value's nesting, which may overflow the stack.
    const std::string shown =
        value.is_structured() ? value.type_name() : value.dump(-1, ' ', false, json::error_handler_t::replace);
    refuse(fmt::format("\"{}\" is {}. It must be {}.", key, shown, allowed));
  }
  [[nodiscard]] json object(const std::string& text) const;
  void set(UserConfig& config, const std::string& key, const json& value) const;
  [[nodiscard]] std::optional<LockRequest> lock_request(const std::string& key, const json& value) const;
  [[nodiscard]] int count(const std::string& key, const json& value, std::int64_t most, std::string_view allowed) const;
  [[nodiscard]] std::string word(const std::string& key, const json& value, bool known, std::string_view allowed) const;
  [[nodiscard]] std::string absolute_path(const std::string& key, const json& value) const;

  const fs::path& file_;
  const Environment& environment_;
};

std::string Reader::contents() const {
  std::ifstream stream(file_, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  std::error_code ignored;
  if (!stream.is_open() || stream.bad() || fs::is_directory(file_, ignored))  // a folder opens, and reads as nothing
    throw CommandError(
        ErrorKind::kEnvironment,
        fmt::format("cannot read configuration {}. Check its permissions, or remove it.", file_.string()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMaxConfigBytes) refuse(fmt::format("it is larger than {} KiB.", kMaxConfigBytes >> 10U));
  return text;
}

json Reader::object(const std::string& text) const {
  try {
    json document = json::parse(text, nullptr, true, /*ignore_comments=*/true);
    if (document.is_object()) return document;
  } catch (const json::parse_error& error) {
    const std::size_t end = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    refuse(fmt::format("it is no JSON from line {} on. Write for example {{\"lock_clocks\": true}}.", line));
  } catch (const json::exception& error) {  // a number that no double can hold
    refuse(fmt::format("{}.", error.what()));
  }
  refuse("it must hold one JSON object, for example {\"lock_clocks\": true}.");
}

std::optional<LockRequest> Reader::lock_request(const std::string& key, const json& value) const {
  if (value.is_boolean()) return value.get<bool>() ? std::optional(LockRequest{}) : std::nullopt;
  return LockRequest{count(key, value, kMaxMhz, "true, false or a clock in MHz")};
}

int Reader::count(const std::string& key, const json& value, std::int64_t most, std::string_view allowed) const {
  // Checked as a double first: a huge unsigned number would wrap as a signed one.
  if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > static_cast<double>(most))
    refuse_value(key, value, allowed);
  return value.get<int>();
}

std::string Reader::word(const std::string& key, const json& value, bool known, std::string_view allowed) const {
  if (!known) refuse_value(key, value, allowed);
  return value.get<std::string>();
}

std::string Reader::absolute_path(const std::string& key, const json& value) const {
  constexpr std::string_view kAllowed = "an absolute path, or one that begins with \"~/\"";
  if (!value.is_string()) refuse_value(key, value, kAllowed);
  auto path = value.get<std::string>();
  if (path.starts_with("~/")) {
    const auto home = environment_("HOME");
    if (!home) refuse(fmt::format("\"{}\" begins with \"~/\", but HOME is not set. Give an absolute path.", key));
    path = *home + path.substr(1);
  }
  if (!fs::path(path).is_absolute()) refuse_value(key, value, kAllowed);
  return path;
}

void Reader::set(UserConfig& config, const std::string& key, const json& value) const {
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  if (key == "lock_clocks") {
    config.lock_clocks = lock_request(key, value);
  } else if (key == "regime") {
    config.regime = word(key, value, parse_regime(text).has_value(), "\"sustained\" or \"burst\"");
  } else if (key == "l2") {
    config.l2 = word(key, value, parse_l2_state(text).has_value(), "\"rotated\" or \"warm\"");
  } else if (key == "database") {
    config.database = absolute_path(key, value);
  } else if (key == "jobs") {
    config.jobs = count(key, value, kMaxJobs, "a number of compile workers, 1 or more");
  } else if (key == "strategy") {
    config.strategy = word(key, value, search::find_strategy(text) != nullptr, search::strategy_names());
  } else {
    static const std::vector<std::string> known{"lock_clocks", "regime", "l2", "database", "jobs", "strategy"};
    // Without a near one the suggestion lists all names, which follow anyway.
    std::string near = suggestion(key, known);
    if (!near.ends_with('?')) near = ".";
    refuse(fmt::format("unknown key \"{}\"{} The keys are {}.", key, near, fmt::join(known, ", ")));
  }
}

UserConfig Reader::read(const std::string& text) const {
  UserConfig config;
  const json document = object(text);
  for (const auto& [key, value] : document.items()) set(config, key, value);
  return config;
}

}  // namespace

UserConfig UserConfig::load(const fs::path& file, const Environment& environment) {
  std::error_code error;
  if (fs::status(file, error).type() == fs::file_type::not_found) return {};
  const Reader reader(file, environment);
  return reader.read(reader.contents());
}

UserConfig UserConfig::parse(const std::string& text, const fs::path& file, const Environment& environment) {
  return Reader(file, environment).read(text);
}

}  // namespace pgtune::tool
