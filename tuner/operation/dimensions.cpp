// SPDX-License-Identifier: MIT
#include "tuner/operation/dimensions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "tuner/util/identifier.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::operation {
namespace {

using space::KnownNames;
using space::NameKind;

constexpr std::size_t kMaxDimensions = 32;

std::vector<std::string> names_of(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> names;
  for (const Dimension& dimension : dimensions) names.push_back(dimension.name);
  return names;
}

tl::unexpected<Error> usage(std::string message) { return fail(ErrorKind::kUsage, std::move(message)); }

}  // namespace

void Names::set_dtype(Dtype dtype, std::optional<ElementType> output) {
  set("DTYPE", label_value(to_string(dtype)));
  set("ELEM_BYTES", element_bytes(dtype));
  set("OUT_BYTES", element_bytes(output.value_or(output_types(dtype).front())));
}

std::optional<std::int64_t> Names::value(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Dimension> read_dimensions(const JsonCursor& root, KnownNames& names) {
  std::vector<Dimension> out;
  for (const JsonCursor& element : root.required("dimensions").elements(1, kMaxDimensions)) {
    element.expect_fields({"name", "description", "default", "least"});
    const JsonCursor name = element.required("name");
    Dimension dimension{name.string(), {}, {}};
    if (const auto fallback = element.optional("default"))
      dimension.fallback = names.read(*fallback, space::Reach::kProblem);
    if (const auto least = element.optional("least")) {
      dimension.least = least->integer();
      if (dimension.least < 0) least->problem("sizes are not negative");
    }
    names.add(dimension.name, NameKind::kProblem, name);
    if (const auto description = element.optional("description")) dimension.description = description->string();
    out.push_back(std::move(dimension));
  }
  return out;
}

KnownNames names_with(const std::vector<Dtype>& dtypes, bool of_products) {
  std::vector<std::pair<std::string, NameKind>> facts;
  if (!dtypes.empty()) facts = {{"DTYPE", NameKind::kTypes}, {"ELEM_BYTES", NameKind::kTypes}};
  if (!dtypes.empty() && of_products) facts.emplace_back("OUT_BYTES", NameKind::kTypes);
  return KnownNames(facts);
}

Result<std::vector<NamedValue>> parse_sizes(std::string_view text) {
  std::vector<NamedValue> out;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t equals = part.find('=');
    NamedValue size{std::string(part.substr(0, equals)), 0};
    const std::string_view digits = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), size.value);
    if (size.name.empty() || digits.empty() || status != std::errc() || end != digits.data() + digits.size())
      return usage(fmt::format("sizes '{}': '{}' is no NAME=NUMBER; give them as M=4096,N=8192", text, part));
    out.push_back(std::move(size));
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

Result<std::vector<NamedValue>> complete_sizes(const std::string& owner, const std::vector<Dimension>& dimensions,
                                               const std::vector<NamedValue>& sizes) {
  const std::vector<std::string> names = names_of(dimensions);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto& [name, value] = sizes[i];
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return usage(fmt::format("{} has no dimension '{}'{}", owner, name, suggestion(name, names)));
    const std::int64_t least = dimensions[static_cast<std::size_t>(found - names.begin())].least;
    if (value < least)
      return usage(least == 1 ? fmt::format("the size {} is {}, but every size must be at least 1", name, value)
                              : fmt::format("the size {} is {}, but must be at least {}", name, value, least));
    for (std::size_t j = 0; j < i; ++j) {
      if (sizes[j].name == name) return usage(fmt::format("the size {} is given twice", name));
    }
  }
  std::vector<NamedValue> out;
  Names known;
  for (const Dimension& dimension : dimensions) {
    const std::string& name = dimension.name;
    const auto given = std::find_if(sizes.begin(), sizes.end(), [&](const auto& size) { return size.name == name; });
    NamedValue size{name, 0};
    if (given != sizes.end()) {
      size.value = given->value;
    } else if (dimension.fallback) {
      const auto value = dimension.fallback->evaluate(known);
      if (!value) return fail(value.error(), fmt::format("{}: the default of {}", owner, name));
      size.value = *value;
      if (size.value < dimension.least)
        return usage(fmt::format("{}: {} is {} by default, but must be at least {}; give it with --size", owner, name,
                                 size.value, dimension.least));
    } else {
      std::vector<std::string> needed;
      for (const Dimension& other : dimensions) {
        if (!other.fallback) needed.push_back(other.name);
      }
      return usage(fmt::format("{} needs a size {}: give --size {}=...", owner, name, fmt::join(needed, "=...,")));
    }
    known.set(name, size.value);
    out.push_back(std::move(size));
  }
  return out;
}

Result<std::optional<Dtype>> choose_dtype(const std::string& owner, const std::vector<Dtype>& dtypes,
                                          std::optional<Dtype> dtype) {
  if (dtypes.empty()) {
    if (dtype) return usage(fmt::format("{} has no dtypes to choose from", owner));
    return std::optional<Dtype>();
  }
  if (!dtype) return std::optional(dtypes.front());
  if (std::find(dtypes.begin(), dtypes.end(), *dtype) != dtypes.end()) return dtype;
  std::vector<std::string_view> words;
  for (const Dtype known : dtypes) words.push_back(to_string(known));
  return usage(fmt::format("{} has no dtype {}; it has {}", owner, to_string(*dtype), fmt::join(words, ", ")));
}

}  // namespace pgtune::operation
