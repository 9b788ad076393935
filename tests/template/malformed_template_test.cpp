// SPDX-License-Identifier: MIT
// Every way a template's JSON can be wrong is refused with its place and the remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/json_edit.hpp"
#include "tests/template/sample_template.hpp"

namespace pgtune::space {
namespace {

using pgtune::testing::Edit;
using pgtune::testing::expect_refusal;
using ::testing::HasSubstr;
using testing::json;
using testing::sample_json;
using ::testing::StartsWith;

TEST(MalformedTemplate, NoObjectHasFurtherFields) {
  json document = sample_json();
  document["kernels"][1]["module"] = {{"header", "reduce.cuh"}, {"defines", {"BM"}}};
  document["sum_order"]["words"] = {{{"word", "plain"}}};
  document["policy"] = document["preset"] = {{{"expr", "BM > 32"}, {"reason", "small"}}};
  testing::Files files = testing::sample_files();
  files.begin()->second += "#include \"reduce.cuh\"\n";
  files.emplace("../templates/reduce.cuh", "// a kernel");
  pgtune::testing::expect_no_further_fields(document, [&](const json& changed) {
    return parse_template(changed.dump(), "sample.json", testing::reader(files));
  });
}

class Malformed : public ::testing::TestWithParam<Edit> {};

TEST(MalformedTemplate, APolicyThatUsesAValueIsToldWhatItMayName) {
  json document = sample_json();
  document["values"] = {{{"name", "TILES"}, {"expr", "ceil_div(M, BM)"}}};
  document["policy"] = {{{"expr", "TILES > 1"}, {"reason", "one tile"}}};
  EXPECT_THAT(testing::parse(document).error().text(),
              HasSubstr("policy[0].expr: 'TILES' is one of \"values\", which \"policy\" does not know: it knows"));
}

TEST_P(Malformed, IsRefused) { expect_refusal(sample_json(), GetParam(), testing::parse); }

INSTANTIATE_TEST_SUITE_P(
    TopLevel, Malformed,
    ::testing::Values(Edit{"/schema", "", "the field 'schema' is missing", ""},
                      Edit{"/schema", "2", "schema: ", "use a newer pgtune"},
                      Edit{"/schema", "\"1\"", "schema: ", "expected an integer; found string"},
                      Edit{"/name", "\"my-kernel\"", "name: ", "letters, digits and '_'"},
                      Edit{"/name", "7", "name: ", "expected a string; found number"},
                      Edit{"/source", "", "the field 'source' is missing", ""},
                      Edit{"/source", "\"nowhere.cu\"", "source: ", "there is no file 'nowhere.cu'"},
                      Edit{"/paramters", "[]", "unknown field 'paramters'", "did you mean 'parameters'?"},
                      Edit{"/dtypes", "[]", "dtypes: ", "the list is empty"},
                      Edit{"/dtypes/0", "\"f33\"", "dtypes[0]: ", "f33"},
                      Edit{"/dtypes/1", "\"f32\"", "dtypes[1]: ", "twice"},
                      Edit{"/outputs", "[\"e4m3\"]", "outputs[0]: ", "f32, f16, bf16 or int32"},
                      Edit{"/outputs", "[\"bf16\"]", "outputs[0]: ", "none of the dtypes has bf16 output"},
                      Edit{"/outputs", "[\"f32\", \"f32\"]", "outputs[1]: ", "twice"},
                      Edit{"/epilogues", "[\"tanh\"]", "epilogues[0]: ", "there are bias, relu, gelu and silu"},
                      Edit{"/epilogues", "[\"bias,relu\"]", "epilogues[0]: ", "'bias,relu' is no epilogue"},
                      Edit{"/epilogues", "[\"none\"]", "epilogues[0]: ", "'none' is no epilogue"},
                      Edit{"/epilogues", "[\"bias\", \"gelu\", \"bias\"]", "epilogues[2]: ", "twice"},
                      Edit{"/epilogues", "[\"gelu\", \"gelu\"]", "epilogues[1]: ", "twice"},
                      Edit{"/kernels", "[]", "kernels: ", "the list is empty"},
                      Edit{"/kernels", "", "the field 'kernels' is missing", ""}));

INSTANTIATE_TEST_SUITE_P(
    Modules, Malformed,
    ::testing::Values(Edit{"/kernels/0/module", R"({"defines": []})", "kernels[0].module: ", "'header' is missing"},
                      Edit{"/kernels/0/module", R"({"header": "device/none.cuh", "defines": []})",
                           "the module of kernel", "does not include \"device/none.cuh\""},
                      Edit{"/kernels/0/module", R"({"header": "device/none.cuh", "defines": ["BQ"]})",
                           "kernels[0].module.defines[0]: ", "no parameter, derived value or define"}));

INSTANTIATE_TEST_SUITE_P(SumOrders, Malformed,
                         ::testing::Values(Edit{"/sum_order", "{}", "sum_order: ", "'words' is missing"},
                                           Edit{"/sum_order", R"({"words": []})",
                                                "sum_order.words: ", "the list is empty"},
                                           Edit{"/sum_order", R"({"words": [{"word": "in {BN} parts"}]})",
                                                "sum_order.words[0].word: ", "unknown name 'BN'"},
                                           Edit{"/sum_order", R"({"words": [{"word": "in {BM parts"}]})",
                                                "sum_order.words[0].word: ", "no '}'"},
                                           Edit{"/sum_order", R"({"when": "EDGE", "words": [{"word": "x"}]})",
                                                "sum_order.when: ", "'EDGE' is a define"}));

INSTANTIATE_TEST_SUITE_P(
    Parameters, Malformed,
    ::testing::Values(Edit{"/parameters", "[]", "parameters: ", "the list is empty"},
                      Edit{"/parameters", "{}", "parameters: ", "expected an array; found object"},
                      Edit{"/parameters/0", "3", "parameters[0]: ", "expected an object"},
                      Edit{"/parameters/0/valeus", "[1]", "parameters[0]: ", "did you mean 'values'?"},
                      Edit{"/parameters/0/values", "[]", "parameters[0].values: ", "the list is empty"},
                      Edit{"/parameters/0/values/1", "\"big\"", "parameters[0].values[1]: ", "cannot be mixed"},
                      Edit{"/parameters/0/values/1", "32", "parameters[0].values[1]: ", "32 appears twice"},
                      Edit{"/parameters/0/values/1", "1.5", "parameters[0].values[1]: ", "integer or a label"},
                      Edit{"/parameters/0/values/1", "true", "parameters[0].values[1]: ", "integer or a label"},
                      Edit{"/parameters/0/values/1", "9223372036854775808", "parameters[0].values[1]: ", "64 bits"},
                      Edit{"/parameters/2/values/1", "\"cp.async\"", "parameters[2].values[1]: ", "cannot be a label"},
                      Edit{"/parameters/0/default", "16",
                           "parameters[0].default: ", "the default 16 is not among the values 32, 64, 128"},
                      Edit{"/parameters/0/default", "", "parameters[0]: ", "'default' is missing"},
                      Edit{"/parameters/1/name", "\"BM\"", "parameters[1].name: ", "'BM' is already a parameter"},
                      Edit{"/parameters/0/name", "\"1BM\"", "parameters[0].name: ", "not starting with a digit"},
                      Edit{"/parameters/0/name", "\"M\"", "parameters[0].name: ", "already a fact of the problem"},
                      Edit{"/parameters/0/name", "\"OUT_BYTES\"", "parameters[0].name: ", "a fact of the problem"},
                      Edit{"/parameters/0/name", "\"ARCH\"", "parameters[0].name: ", "already a fact of the device"},
                      Edit{"/parameters/0/name", "\"min\"", "parameters[0].name: ", "already a function"},
                      Edit{"/parameters/0/name", "\"LABEL_x\"", "parameters[0].name: ", "kept for the labels"}));

INSTANTIATE_TEST_SUITE_P(
    Expressions, Malformed,
    ::testing::Values(
        Edit{"/constraints/0/expr", "\"BMM <= 1024\"",
             "constraints[0].expr: unknown name 'BMM'; did you mean 'BM'?\n  BMM <= 1024\n  ^", ""},
        Edit{"/constraints/0/expr", "\"BM + + 2\"", "constraints[0].expr: ", "\n  BM + + 2\n       ^"},
        Edit{"/constraints/0/expr", "\"BM < M\"", "constraints[0].expr: 'M' belongs to the problem", "\n       ^"},
        Edit{"/constraints/0/expr", "\"max > 3\"", "constraints[0].expr: 'max' is a function", ""},
        Edit{"/constraints/0/expr", "3", "constraints[0].expr: ", "expected an expression in a string"},
        Edit{"/constraints/0/reason", "", "constraints[0]: ", "'reason' is missing"},
        Edit{"/constraints/0/reason", "\"\"", "constraints[0].reason: ", "the string is empty"},
        Edit{"/derived/0/expr", "\"SMEM_BYTES\"", "derived[0].expr: 'SMEM_BYTES' is defined further down", ""},
        Edit{"/derived/0/expr", "\"THREADS\"", "derived[0].expr: 'THREADS' is defined further down", ""},
        Edit{"/derived/0/expr", "\"N\"", "derived[0].expr: 'N' belongs to the problem", ""},
        Edit{"/derived/0/exp", "\"1\"", "derived[0]: unknown field 'exp'", "did you mean 'expr'?"},
        Edit{"/derived/1/name", "\"THREADS\"", "derived[1].name: 'THREADS' is already a derived value", ""},
        Edit{"/derived/1/name", "\"BM\"", "derived[1].name: 'BM' is already a parameter", ""},
        Edit{"/constraints/1/expr", "\"COPY == 'lgd' || TM >= 4\"",
             "constraints[1].expr: 'lgd' is no label of 'COPY', which has ldg, cp_async\n  COPY == 'lgd' || TM >= 4\n",
             ""},
        Edit{"/constraints/0/expr", "\"BM > TM && 'async' != (COPY)\"", "constraints[0].expr: 'async' is no label", ""},
        Edit{"/legality/0/expr", "\"DTYPE == 'float'\"", "legality[0].expr: 'float' is no label of 'DTYPE'", "bf16"},
        Edit{"/legality/0/expr", "\"EDGE\"", "legality[0].expr: ", "unknown name 'EDGE'"},
        Edit{"/preset", R"([{"expr": "EDGE", "reason": "x"}])", "preset[0].expr: ", "unknown name 'EDGE'"},
        Edit{"/seeds", R"(["BM=32", "BM=33"])", "seeds[1]: ", "33"},
        Edit{"/seeds", R"(["BM=32", "BM=32"])", "seeds[1]: ", "appears twice"},
        Edit{"/defines/0/expr", "\"NO_EDGE\"", "defines[0].expr: 'NO_EDGE' is defined further down", ""},
        Edit{"/kernels/0/block/0", "\"EDGE\"", "kernels[0].block[0]: 'EDGE' is a define", ""},
        Edit{"/defines/0/name", "\"THREADS\"", "defines[0].name: 'THREADS' is already a derived value", ""}));

INSTANTIATE_TEST_SUITE_P(
    Traffic, Malformed,
    ::testing::Values(Edit{"/traffic", "{}", "traffic: the field 'l2_bytes' is missing", ""},
                      Edit{"/traffic", "\"M\"", "traffic: ", "expected an object"},
                      Edit{"/traffic", R"({"l2_byte": "M"})", "traffic: ", "did you mean 'l2_bytes'?"},
                      Edit{"/traffic", R"({"l2_bytes": 4})",
                           "traffic.l2_bytes: ", "expected an expression in a string"},
                      Edit{"/traffic", R"({"l2_bytes": "M * BMM"})",
                           "traffic.l2_bytes: unknown name 'BMM'; did you mean 'BM'?\n  M * BMM\n      ^", ""},
                      Edit{"/traffic", R"({"l2_bytes": "M", "smem_bytes": "BMM"})",
                           "traffic.smem_bytes: unknown name 'BMM'; did you mean 'BM'?\n  BMM\n  ^", ""},
                      Edit{"/traffic", R"({"smem_bytes": "M"})", "traffic: the field 'l2_bytes' is missing", ""},
                      Edit{"/traffic", R"({"l2_bytes": "EDGE"})", "traffic.l2_bytes: 'EDGE' is a define", ""},
                      Edit{"/trafic", R"({"l2_bytes": "M"})", "unknown field 'trafic'", "did you mean 'traffic'?"}));

INSTANTIATE_TEST_SUITE_P(
    Launch, Malformed,
    ::testing::Values(
        Edit{"/workspace/zero", "\"always\"", "workspace.zero: ", "not one of never, every_launch"},
        Edit{"/workspace", "", "kernels[0].arguments[1].pointer: ", "asks for no workspace"},
        Edit{"/tensor_maps/0/operand", "\"E\"", "tensor_maps[0].operand: ", "not one of A, B, C, D, bias, workspace"},
        Edit{"/tensor_maps/0/type", "\"f64\"",
             "tensor_maps[0].type: ", "not one of operand, f32, tf32, f16, bf16, u8, int32"},
        Edit{"/tensor_maps/0/dims", R"(["1","1","1","1","1","1"])", "tensor_maps[0].dims: ", "1 to 5 entries; found 6"},
        Edit{"/tensor_maps/0/strides", R"(["LDA","LDA"])", "tensor_maps[0].strides: ", "expected 1 entry; found 2"},
        Edit{"/tensor_maps/0/box/2", "\"1\"", "tensor_maps[0].box: ", "expected 2 entries; found 3"},
        Edit{"/tensor_maps/0/swizzle", "\"16B\"", "tensor_maps[0].swizzle: ", "none, 32B, 64B, 128B"},
        Edit{"/tensor_maps/0/name", "\"map a\"", "tensor_maps[0].name: ", "cannot be a name"},
        Edit{"/tensor_maps/-", R"({"name": "map_a", "operand": "A", "type": "f32", "dims": ["K"], "box": ["16"]})",
             "tensor_maps[1].name: ", "there are two tensor maps 'map_a'"},
        Edit{"/tensor_maps/-", R"({"name": "map_a", "like": "map_a", "box": ["16", "8"]})",
             "tensor_maps[1].name: ", "there are two tensor maps 'map_a'"},
        Edit{"/tensor_maps/-", R"({"name": "map_b", "like": "map_c", "box": ["16", "8"]})",
             "tensor_maps[1].like: ", "there is no tensor map 'map_c'; did you mean 'map_a'?"},
        Edit{"/tensor_maps/-", R"({"name": "map_b", "like": "map_a", "box": ["16"]})",
             "tensor_maps[1].box: ", "expected 2 entries; found 1"},
        Edit{"/tensor_maps/-", R"({"name": "map_b", "like": "map_a", "box": ["16", "8"], "type": "f32"})",
             "tensor_maps[1]: ", "unknown field 'type'"},
        Edit{"/kernels/0/symbol", "\"f<int>;\"", "kernels[0].symbol: ", "cannot be a kernel's name"},
        Edit{"/kernels/0/grid", R"(["1","1","1","1"])", "kernels[0].grid: ", "1 to 3 entries; found 4"},
        Edit{"/kernels/0/block", "", "kernels[0]: ", "'block' is missing"},
        Edit{"/kernels/0/clusters", "[]", "kernels[0]: ", "did you mean 'cluster'?"},
        Edit{"/kernels/0/l2_window/hit_ratio", "1.5", "kernels[0].l2_window.hit_ratio: ", "0 to 1"},
        Edit{"/kernels/0/l2_window/access", "\"fast\"",
             "kernels[0].l2_window.access: ", "normal, streaming, persisting"},
        Edit{"/kernels/0/arguments/2/tensor_map", "\"map_b\"",
             "kernels[0].arguments[2].tensor_map: ", "there is no tensor map 'map_b'; did you mean 'map_a'?"},
        Edit{"/kernels/0/arguments/0", R"({"pointer": "A", "int32": "M"})", "kernels[0].arguments[0]: ", "exactly one"},
        Edit{"/kernels/0/arguments/0", "{}", "kernels[0].arguments[0]: ", "exactly one"},
        Edit{"/kernels/0/arguments/0", "\"A\"", "kernels[0].arguments[0]: ", "expected an object"},
        Edit{"/kernels/0/arguments/0", R"({"float32": "gamma"})", "kernels[0].arguments[0].float32: ", "alpha, beta"}));

std::string parse_error(std::string_view text) {
  const auto parsed = parse_template(text, "x.json", testing::reader(testing::sample_files()));
  return parsed ? "no error" : parsed.error().text();
}

TEST(TemplateSyntax, NamesLineAndColumn) {
  const std::string message = parse_error("{\n  \"schema\": 1,\n  \"name\" \"x\"\n}");
  EXPECT_THAT(message, StartsWith("x.json:3:12: "));
  EXPECT_THAT(message, ::testing::EndsWith("\n    \"name\" \"x\"\n             ^"));
}

TEST(TemplateSyntax, OtherTextIsRefused) {
  EXPECT_THAT(parse_error(""), StartsWith("x.json:1:1: "));
  EXPECT_THAT(parse_error("[1, 2]"), HasSubstr("expected an object"));
  EXPECT_THAT(parse_error("{\"schema\": 1"), StartsWith("x.json:1:13: "));
  EXPECT_THAT(parse_error("{\"schema\": \"\xff\"}"), StartsWith("x.json:1:"));
  EXPECT_THAT(parse_error("{\"schema\": 1e999}"), StartsWith("x.json: "));
  EXPECT_THAT(parse_error(std::string(200000, '[')), StartsWith("x.json:1:200001: "));
  EXPECT_THAT(parse_error(std::string(200000, '[') + std::string(200000, ']')), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(parse_error(std::string((4 << 20) + 1, ' ')), HasSubstr("too many"));
  EXPECT_THAT(parse_error(std::string(4 << 20, ' ')), ::testing::Not(HasSubstr("too many")));
}

TEST(TemplateSyntax, DuplicateFieldsAreRefused) {
  EXPECT_EQ(parse_error(R"({"schema": 1, "name": "a", "name": "b"})"),
            "x.json: the field 'name' appears twice in one object; keep one");
  EXPECT_THAT(parse_error(R"({"a": {"x": 1}, "b": {"x": 1}})"), ::testing::Not(HasSubstr("twice")));
}

TEST(TensorMaps, MayShareANameWhereTheFirstIsUsedAtTimes) {
  json document = sample_json();
  document["tensor_maps"].push_back(document["tensor_maps"][0]);
  EXPECT_FALSE(testing::parse(document));
  document["tensor_maps"][0]["when"] = "K > 64";
  EXPECT_TRUE(testing::parse(document)) << testing::parse(document).error().text();
}

TEST(TemplateSyntax, TooManyParametersAreRefused) {
  json document = sample_json();
  for (int i = 0; i < 64; ++i) {
    document["parameters"].push_back({{"name", "P" + std::to_string(i)}, {"values", {1}}, {"default", 1}});
  }
  EXPECT_THAT(parse_error(document.dump()), HasSubstr("expected 1 to 64 entries; found 67"));
}

}  // namespace
}  // namespace pgtune::space
