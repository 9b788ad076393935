// SPDX-License-Identifier: MIT
#include "tool/worker/options.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>

namespace pgtune::worker {
namespace {

Result<Role> parse_role(const std::string& text) {
  if (text == "compile") return Role::kCompile;
  if (text == "measure") return Role::kMeasure;
  if (text == "list") return Role::kList;
  return fail(ErrorKind::kUsage, fmt::format("--role is '{}'; it must be compile, measure or list", text));
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    if (name == "--help" || name == "-h") return Options{};
    if (name != "--role" && name != "--cache-dir" && name != "--gpu")
      return fail(ErrorKind::kUsage, fmt::format("unknown option '{}'; --help lists the options", name));
    if (i + 1 == arguments.size() || arguments[i + 1].empty())
      return fail(ErrorKind::kUsage, fmt::format("{} needs a value", name));
    values[name] = arguments[i + 1];
  }
  if (values.count("--role") == 0) return fail(ErrorKind::kUsage, "--role is missing; --help lists the roles");

  const Result<Role> role = parse_role(values["--role"]);
  if (!role) return tl::unexpected(role.error());
  Options options{*role, values["--cache-dir"], values["--gpu"]};
  if (options.role == Role::kCompile && options.cache_folder.empty())
    return fail(ErrorKind::kUsage, "the compile role needs --cache-dir");
  if (options.role == Role::kMeasure && options.gpu.empty())
    return fail(ErrorKind::kUsage, "the measure role needs --gpu");
  return options;
}

}  // namespace pgtune::worker
