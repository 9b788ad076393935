// SPDX-License-Identifier: MIT
// Reads an operation's baselines. check_library_product() later checks whether the buffers make a product, once sizes
// are given; loading a template shows whether it has the variant.
#include "tuner/operation/operation_reader.hpp"

namespace pgtune::operation {
namespace {

std::int64_t buffer_named(const JsonCursor& cursor, const OperationDefinition& definition, BufferRole role) {
  const auto found = buffer_at(cursor, definition, [&](const BufferSpec& buffer) { return buffer.role == role; });
  return static_cast<std::int64_t>(found.value_or(0));
}

LibraryProduct read_product(const JsonCursor& cursor, const OperationDefinition& definition) {
  cursor.expect_fields({"library", "a", "b", "d", "scale_a", "scale_b", "offsets", "rows"});
  LibraryProduct out;
  out.library = cursor.required("library").choice_of<BaselineLibrary>();
  out.a = buffer_named(cursor.required("a"), definition, BufferRole::kIn);
  out.b = buffer_named(cursor.required("b"), definition, BufferRole::kIn);
  out.d = buffer_named(cursor.required("d"), definition, BufferRole::kOut);
  const auto input = [&](std::string_view field) -> std::optional<std::int64_t> {
    const auto given = cursor.optional(field);
    if (!given) return std::nullopt;
    return buffer_named(*given, definition, BufferRole::kIn);
  };
  out.scale_a = input("scale_a");
  out.scale_b = input("scale_b");
  out.offsets = input("offsets");
  out.rows = input("rows");
  if (out.scale_a.has_value() != out.scale_b.has_value())
    cursor.problem("\"scale_a\" and \"scale_b\" come together: libraries scale both operands or none");
  if (out.offsets && out.rows)
    cursor.problem("a product of groups says by \"offsets\" or by \"rows\" which rows they have, not by both");
  return out;
}

TemplateBaseline read_template_baseline(const JsonCursor& cursor) {
  cursor.expect_fields({"template", "variant"});
  const JsonCursor selector = cursor.required("template");
  TemplateBaseline out{selector.string(), {}};
  if (out.selector.empty()) selector.problem("a template's path, or the name of a built-in one");
  if (const auto variant = cursor.optional("variant")) out.variant = variant->string();
  return out;
}

}  // namespace

void read_baselines(const JsonCursor& root, OperationDefinition& definition) {
  for (const JsonCursor& element : root.optional_elements("baselines", kMaxBaselines)) {
    if (element.optional("template")) {
      definition.baselines.emplace_back(read_template_baseline(element));
    } else if (definition.name == kGemmName && element.optional("gemm")) {
      element.expect_fields({"gemm"});
      static_cast<void>(element.required("gemm").choice({to_string(BaselineLibrary::kCublasLt)}));
      definition.baselines.emplace_back(GemmBaseline{});
    } else {
      definition.baselines.emplace_back(read_product(element, definition));
    }
  }
}

}  // namespace pgtune::operation
