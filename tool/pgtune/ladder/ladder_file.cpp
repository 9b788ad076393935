// SPDX-License-Identifier: MIT
#include "tool/pgtune/ladder/ladder_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "tuner/util/json_depth.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr int kLadderSchema = 1;
constexpr std::size_t kMaxRungs = 256;

/// What is wrong with the file; never leaves parse_ladder().
struct LadderProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect_fields(const json& object, const std::string& what, const std::set<std::string>& known) {
  if (!object.is_object()) throw LadderProblem(fmt::format("{} is no object", what));
  for (const auto& [field, value] : object.items()) {
    if (known.count(field) == 0)
      throw LadderProblem(fmt::format("{} has an unknown field '{}'; known: {}", what, field, fmt::join(known, ", ")));
  }
}

std::string text_of(const json& object, const std::string& what, const char* field) {
  const auto value = object.find(field);
  if (value == object.end()) throw LadderProblem(fmt::format("{} has no '{}'", what, field));
  if (!value->is_string() || value->get_ref<const std::string&>().empty())
    throw LadderProblem(fmt::format("{}: '{}' must be a text", what, field));
  return value->get<std::string>();
}

LadderRung rung_of(const json& object, std::size_t index) {
  std::string what = fmt::format("rungs[{}]", index);
  expect_fields(object, what, {"name", "change", "lesson", "template", "variant", "stored_best"});
  LadderRung rung;
  rung.name = text_of(object, what, "name");
  what += fmt::format(" ({})", rung.name);
  rung.change = text_of(object, what, "change");
  rung.lesson = text_of(object, what, "lesson");
  if (object.contains("stored_best")) {
    if (object.at("stored_best") != true || object.contains("template") || object.contains("variant"))
      throw LadderProblem(fmt::format("{}: 'stored_best' is true or absent, and stands alone", what));
    return rung;
  }
  rung.template_selector = text_of(object, what, "template");
  if (object.contains("variant")) rung.variant = text_of(object, what, "variant");
  return rung;
}

Ladder ladder_of(const json& document) {
  expect_fields(document, "the ladder", {"schema", "name", "description", "operation", "dtype", "rungs"});
  if (document.value("schema", json()) != kLadderSchema)
    throw LadderProblem(fmt::format("'schema' must be {}", kLadderSchema));
  Ladder ladder;
  ladder.name = text_of(document, "the ladder", "name");
  ladder.description = text_of(document, "the ladder", "description");
  if (document.contains("operation")) ladder.operation = text_of(document, "the ladder", "operation");
  if (ladder.operation.empty() || document.contains("dtype")) {
    const auto dtype = parse_dtype(text_of(document, "the ladder", "dtype"));
    if (!dtype) throw LadderProblem(dtype.error().text());
    ladder.dtype = *dtype;
  }
  const json rungs = document.value("rungs", json());
  if (!rungs.is_array() || rungs.empty() || rungs.size() > kMaxRungs)
    throw LadderProblem(fmt::format("'rungs' must be a list of 1 to {}", kMaxRungs));
  std::set<std::string> names;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    ladder.rungs.push_back(rung_of(rungs[i], i));
    if (!names.insert(ladder.rungs.back().name).second)
      throw LadderProblem(fmt::format("rungs[{}]: there is a rung '{}' already", i, ladder.rungs.back().name));
  }
  return ladder;
}

}  // namespace

Result<Ladder> parse_ladder(std::string_view text, const std::string& origin) {
  if (json_too_deep(text)) return fail(ErrorKind::kUsage, fmt::format("{}: nests too deep to be a ladder", origin));
  try {
    return ladder_of(json::parse(text));
  } catch (const LadderProblem& problem) {
    return fail(ErrorKind::kUsage, fmt::format("{}: {}", origin, problem.what()));
  } catch (const json::exception& problem) {
    return fail(ErrorKind::kUsage, fmt::format("{}: {}", origin, problem.what()));
  }
}

}  // namespace pgtune::tool
