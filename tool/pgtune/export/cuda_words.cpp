// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/cuda_words.hpp"

#include <fmt/format.h>

#include <array>

#include "tool/pgtune/export/cpp_names.hpp"
#include "tuner/expression/expression.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/epilogue.hpp"
#include "tuner/util/enum_table.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::tool {
namespace {

struct CudaTensorType {
  TensorType type;
  std::string_view cuda;
};
constexpr std::array<CudaTensorType, kTensorTypeCount> kTensorTypeNames{
    {{TensorType::kFloat32, "CU_TENSOR_MAP_DATA_TYPE_FLOAT32"},
     {TensorType::kTfloat32, "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32"},
     {TensorType::kFloat16, "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"},
     {TensorType::kBfloat16, "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"},
     {TensorType::kUint8, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},
     {TensorType::kInt32, "CU_TENSOR_MAP_DATA_TYPE_INT32"}}};
static_assert(one_row_each(kTensorTypeNames, &CudaTensorType::type));

std::string element_comment(Dtype dtype) {
  const auto cpp = [](ElementType type) { return traits(type).cpp_name; };
  std::string out = type_of_a(dtype) == type_of_b(dtype)
                        ? fmt::format("A and B {}", cpp(type_of_a(dtype)))
                        : fmt::format("A {}, B {}", cpp(type_of_a(dtype)), cpp(type_of_b(dtype)));
  out += fmt::format("; C and D {}", cpp(output_types(dtype).front()));
  for (const ElementType other : output_types(dtype).subspan(1))
    out += fmt::format(", or {} with Element::{}", cpp(other), to_string(other));
  return out;
}

}  // namespace

std::string_view cuda_tensor_type(TensorType type) { return row_of(kTensorTypeNames, type).cuda; }

std::string word_enums() {
  std::string out = "/// What is computed: the types of A and B, and how.\nenum class Type : std::uint8_t {\n";
  for (const Dtype dtype : all_dtypes())
    out += fmt::format("  {},  ///< {}\n", to_string(dtype), element_comment(dtype));
  out += "};\n\n/// Types of elements; usual: the first one of its Type.\nenum class Element : std::uint8_t { usual";
  for (const ElementType type : all_element_types()) out += fmt::format(", {}", to_string(type));
  out += " };\n\n/// gelu is the approximation with tanh.\nenum class Activation : std::uint8_t { ";
  for (const Activation activation : all_activations())
    out += fmt::format("{}{}", activation == all_activations().front() ? "" : ", ", to_string(activation));
  return out + " };\n";
}

std::string word_tables() {
  std::string out =
      "struct TypeRow {\n  Int label, bytes;\n  CUtensorMapDataType tensor_a, tensor_b;\n  Element out;\n  bool "
      "integer;\n};\n"
      "inline constexpr TypeRow kTypes[] = {\n";
  for (const Dtype dtype : all_dtypes())
    out += fmt::format("    {{{}, {}, {}, {}, Element::{}, {}}},\n", label_value(to_string(dtype)),
                       element_bytes(dtype), cuda_tensor_type(traits(type_of_a(dtype)).tensor_type),
                       cuda_tensor_type(traits(type_of_b(dtype)).tensor_type), to_string(output_types(dtype).front()),
                       traits(dtype).is_integer());
  out += fmt::format("}};\nconstexpr int kTypeCount = {};\n", all_dtypes().size());
  out +=
      "struct ElementRow {\n  Int bytes;\n  CUtensorMapDataType tensor;\n};\ninline constexpr ElementRow kElements[] = "
      "{\n"
      "    {0, CU_TENSOR_MAP_DATA_TYPE_UINT8},\n";
  for (const ElementType type : all_element_types())
    out += fmt::format("    {{{}, {}}},\n", traits(type).bytes, cuda_tensor_type(traits(type).tensor_type));
  out += fmt::format("}};\nconstexpr int kElementCount = {};\ninline constexpr Int kActivationLabels[] = {{",
                     all_element_types().size() + 1);
  for (const Activation activation : all_activations())
    out += fmt::format("{}{}", activation == all_activations().front() ? "" : ", ", label_value(to_string(activation)));
  return out + fmt::format("}};\nconstexpr int kActivationCount = {};\n", all_activations().size());
}

}  // namespace pgtune::tool
