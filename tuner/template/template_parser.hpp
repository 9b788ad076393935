// SPDX-License-Identifier: MIT
// Parts of parse_template, and what tuner/operation reads like templates do. Private to these two.
#pragma once

#include <string>
#include <string_view>

#include "tuner/template/known_names.hpp"
#include "tuner/template/template_definition.hpp"
#include "tuner/util/json_cursor.hpp"

namespace pgtune::space {

/// Parameters are walked recursively and are part of every variant; a real template has about twenty.
inline constexpr std::size_t kMaxParameters = 64;
inline constexpr std::size_t kMaxValues = 4096;
inline constexpr std::size_t kMaxEntries = 1024;  ///< of any other list

// The cursor's JsonProblems collects problems; the result is valid only if there are none.

/// The field "schema".
void check_schema(const JsonCursor& root);
/// Each dtype once. Unless `of_products`, A and B must have the same type in it, which is the type of elements; a
/// product's factors and result may differ in type.
[[nodiscard]] std::vector<Dtype> read_dtypes(const std::vector<JsonCursor>& elements, bool of_products = true);
[[nodiscard]] std::vector<Expression> read_expressions(const JsonCursor& cursor, const KnownNames& names,
                                                       std::size_t least, std::size_t most);
[[nodiscard]] std::vector<Parameter> read_parameters(const JsonCursor& root, KnownNames& names);
/// A list of {"name", "expr"}; each name may be used by the entries after it.
[[nodiscard]] std::vector<NamedExpression> read_named_expressions(const JsonCursor& root, std::string_view field,
                                                                  NameKind kind, Reach reach, KnownNames& names);
/// A list of {"expr", "reason"}.
[[nodiscard]] std::vector<Rule> read_rules(const JsonCursor& root, std::string_view field, Reach reach,
                                           const KnownNames& names);
/// A list of texts such as "BM=128,BN=64", each over the defaults. `definition` has its parameters.
[[nodiscard]] std::vector<Variant> read_seeds(const JsonCursor& root, const TemplateDefinition& definition);
/// workspace, tensor_maps, kernels and traffic.
/// `operation`: null for GEMM.
void read_launch(const JsonCursor& root, const KnownNames& names, const OperationInterface* operation,
                 TemplateDefinition& definition);

/// parse_template with a second place for includes, asked by the name in the #include, which may be empty, and with
/// folders beside those that the JSON declares (read_template_source).
[[nodiscard]] Result<TemplateDefinition> parse_template_with_fallback(std::string_view json_text,
                                                                      const std::string& origin,
                                                                      const FileReader& read_file,
                                                                      const FileReader& shipped_headers,
                                                                      const OperationInterface* operation = nullptr,
                                                                      std::vector<FileReader> further_folders = {});

}  // namespace pgtune::space
