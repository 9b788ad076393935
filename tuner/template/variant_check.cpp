// SPDX-License-Identifier: MIT
#include "tuner/template/variant_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pgtune::space {

Error not_a_value(const Parameter& parameter, std::string_view text) {
  std::vector<std::string> values;
  for (const ParameterValue& value : parameter.values) values.push_back(to_string(value));
  return Error{ErrorKind::kUsage,
               fmt::format("{} has no value '{}'; its values are {}", parameter.name, text, fmt::join(values, ", ")),
               {}};
}

Result<void> check_variant(const TemplateDefinition& definition, const Variant& variant) {
  if (variant.parameters.size() != definition.parameters.size()) {
    return fail(ErrorKind::kUsage,
                fmt::format("the variant '{}' has {} parameters, the template '{}' has {}", variant.key(),
                            variant.parameters.size(), definition.name, definition.parameters.size()));
  }
  for (std::size_t i = 0; i < variant.parameters.size(); ++i) {
    const Assignment& assignment = variant.parameters[i];
    const Parameter& parameter = definition.parameters[i];
    if (assignment.name != parameter.name) {
      return fail(ErrorKind::kUsage,
                  fmt::format("parameter {} of the template '{}' is '{}', the variant has '{}' there", i + 1,
                              definition.name, parameter.name, assignment.name));
    }
    if (std::find(parameter.values.begin(), parameter.values.end(), assignment.value) == parameter.values.end()) {
      return tl::unexpected<Error>(not_a_value(parameter, to_string(assignment.value)));
    }
  }
  return {};
}

namespace {

bool fuses(const TemplateDefinition& definition, const Epilogue& epilogue) {
  const auto& activations = definition.activations;
  const bool activates = epilogue.activation == Activation::kNone ||
                         std::find(activations.begin(), activations.end(), epilogue.activation) != activations.end();
  return activates && (definition.fuses_bias || !epilogue.bias);
}

std::string epilogue_words(const TemplateDefinition& definition) {
  std::vector<std::string_view> words;
  if (definition.fuses_bias) words.emplace_back("bias");
  for (const Activation activation : definition.activations) words.push_back(to_string(activation));
  return words.empty() ? "it has none" : fmt::format("its epilogues are {}", fmt::join(words, ", "));
}

}  // namespace

bool TemplateDefinition::is_of(const Problem& problem) const { return operation == problem.operation_name(); }

bool TemplateDefinition::computes(const Problem& problem) const {
  return has_types(problem) && fuses(*this, problem.epilogue);
}

bool TemplateDefinition::has_types(const Problem& problem) const {
  if (!is_of(problem)) return false;
  if (!problem.has_dtype()) return true;
  if (std::find(dtypes.begin(), dtypes.end(), problem.dtype) == dtypes.end()) return false;
  if (outputs.empty()) return problem.has_usual_output();
  return std::find(outputs.begin(), outputs.end(), problem.type_of_c()) != outputs.end();
}

Result<void> check_problem(const TemplateDefinition& definition, const Problem& problem) {
  if (definition.computes(problem)) return {};
  if (definition.has_types(problem)) {
    return fail(ErrorKind::kUsage, fmt::format("the template '{}' does not fuse the epilogue {}; {}", definition.name,
                                               to_string(problem.epilogue), epilogue_words(definition)));
  }
  if (!definition.is_of(problem))
    return fail(ErrorKind::kUsage, fmt::format("the template '{}' does not compute the operation of {}",
                                               definition.name, problem.title()));
  const auto& dtypes = definition.dtypes;
  if (std::find(dtypes.begin(), dtypes.end(), problem.dtype) != dtypes.end()) {
    return fail(ErrorKind::kUsage, fmt::format("the template '{}' does not write {} output in {}", definition.name,
                                               to_string(problem.type_of_c()), to_string(problem.dtype)));
  }
  std::vector<std::string_view> known;
  for (const Dtype dtype : dtypes) known.push_back(to_string(dtype));
  return fail(ErrorKind::kUsage, fmt::format("the template '{}' does not compute in {}; its dtypes are {}",
                                             definition.name, to_string(problem.dtype), fmt::join(known, ", ")));
}

}  // namespace pgtune::space
