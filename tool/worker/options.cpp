// SPDX-License-Identifier: MIT
#include "tool/worker/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <map>
#include <set>

namespace pgtune::worker {
namespace {

Result<Role> parse_role(const std::string& text, const std::vector<std::string>& room_roles) {
  static const std::map<std::string, Role> roles{{"compile", Role::kCompile},   {"measure", Role::kMeasure},
                                                 {"list", Role::kList},         {"limits", Role::kLimits},
                                                 {"guard", Role::kGuard},       {"doctor", Role::kDoctor},
                                                 {"consumer", Role::kConsumer}, {"processes", Role::kProcesses}};
  if (const auto found = roles.find(text); found != roles.end()) return found->second;
  std::string of_rooms;
  for (const std::string& name : room_roles) {
    if (name == text) return Role::kOfRoom;
    of_rooms += ", " + name;
  }
  return fail(
      ErrorKind::kUsage,
      fmt::format(
          "--role is '{}'; it must be one of compile, measure, list, limits, processes, guard, doctor, consumer{}",
          text, of_rooms));
}

/// Nothing where the option was not given.
template <typename Number>
Result<std::optional<Number>> parse_positive(const char* name, const std::string& text) {
  if (text.empty()) return std::nullopt;
  Number number = 0;
  const char* const end = text.data() + text.size();
  if (const auto parsed = std::from_chars(text.data(), end, number);
      parsed.ec == std::errc() && parsed.ptr == end && number > 0)
    return number;
  return fail(ErrorKind::kUsage, fmt::format("{} is '{}'; it must be a positive number", name, text));
}

/// What a role cannot do without.
Result<WorkerOptions> checked(WorkerOptions options) {
  const bool needs_gpu = options.role == Role::kMeasure || options.role == Role::kLimits ||
                         options.role == Role::kProcesses || options.role == Role::kGuard ||
                         options.role == Role::kDoctor || options.role == Role::kConsumer ||
                         options.role == Role::kOfRoom;
  if (options.role == Role::kCompile && options.cache_folder.empty())
    return fail(ErrorKind::kUsage, "the compile role needs --cache-dir");
  if (needs_gpu && options.gpu.empty()) return fail(ErrorKind::kUsage, "this role needs --gpu");
  if ((options.role == Role::kConsumer) == options.library.empty())
    return fail(ErrorKind::kUsage, "the consumer role needs --library, and no other takes it");
  if (!options.input.empty() && options.role != Role::kMeasure)
    return fail(ErrorKind::kUsage, "only the measure role takes --input");
  if (options.restore && options.lock_mhz)
    return fail(ErrorKind::kUsage, "--restore and --lock-mhz exclude each other");
  return options;
}

}  // namespace

Result<WorkerOptions> parse_options(const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& room_roles) {
  static const std::set<std::string> known{"--role",         "--cache-dir", "--gpu",    "--lock-mhz",
                                           "--memory-limit", "--input",     "--library"};
  std::map<std::string, std::string> values;
  WorkerOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--help" || name == "-h") return WorkerOptions{};
    if (name == "--restore") {
      options.restore = true;
      continue;
    }
    if (known.count(name) == 0)
      return fail(ErrorKind::kUsage, fmt::format("unknown option '{}'; --help lists the options", name));
    if (i + 1 == arguments.size() || arguments[i + 1].empty())
      return fail(ErrorKind::kUsage, fmt::format("{} needs a value", name));
    values[name] = arguments[++i];
  }
  if (values.count("--role") == 0) return fail(ErrorKind::kUsage, "--role is missing; --help lists the roles");

  const Result<Role> role = parse_role(values["--role"], room_roles);
  if (!role) return tl::unexpected(role.error());
  TRY_ASSIGN(const auto mhz, parse_positive<int>("--lock-mhz", values["--lock-mhz"]));
  TRY_ASSIGN(const auto memory, parse_positive<std::int64_t>("--memory-limit", values["--memory-limit"]));
  options.role = *role;
  options.role_name = values["--role"];
  options.cache_folder = values["--cache-dir"];
  options.gpu = values["--gpu"];
  options.lock_mhz = mhz;
  options.memory_limit_bytes = memory;
  options.input = values["--input"];
  options.library = values["--library"];
  return checked(std::move(options));
}

}  // namespace pgtune::worker
