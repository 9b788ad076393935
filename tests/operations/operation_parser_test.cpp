// SPDX-License-Identifier: MIT
// An operation's JSON is read as docs/reference/operation-format.md says, and everything wrong in it refused with its
// place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/operations/sample_operation.hpp"
#include "tests/support/json_edit.hpp"

namespace pgtune::operation {
namespace {

using pgtune::testing::Edit;
using pgtune::testing::expect_refusal;
using testing::counting_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;
using testing::residual_json;
using testing::sample_json;

TEST(OperationParser, ReadsTheSample) {
  const auto operation = testing::parse(sample_json());
  ASSERT_TRUE(operation) << operation.error().text();
  EXPECT_EQ(operation->name, "scale_rows");
  EXPECT_THAT(operation->dtypes, ElementsAre(Dtype::kBf16, Dtype::kF32));
  EXPECT_EQ(operation->buffers.size(), 7);
  EXPECT_EQ(operation->buffers[0].type, std::nullopt);
  EXPECT_EQ(operation->buffers[4].role, BufferRole::kInOut);
  EXPECT_EQ(operation->buffers[2].kernel->arguments[1].buffer, 1);
  EXPECT_EQ(operation->reference[0].arguments[2].kind, ReferenceArgumentKind::kScale);
  EXPECT_EQ(operation->content_hash.size(), 32);
}

TEST(OperationParser, NoObjectHasFurtherFields) {
  for (const json& document : {residual_json(), counting_json()})
    pgtune::testing::expect_no_further_fields(document, testing::parse);
  for (const auto& file : std::filesystem::directory_iterator(PGTUNE_SOURCE_DIR "/operations")) {
    if (file.path().extension() != ".json" || file.path().stem() == "gemm") continue;  // that one is built in
    SCOPED_TRACE(file.path());
    std::ifstream text(file.path());
    pgtune::testing::expect_no_further_fields(json::parse(text), testing::parse);
  }
}

TEST(OperationParser, ItsInterfaceIsWhatTemplatesMayName) {
  const auto interface = testing::parse(sample_json())->interface();
  EXPECT_EQ(interface.name, "scale_rows");
  EXPECT_THAT(interface.names, ElementsAre("M", "N", "PITCH", "ALIGN_X", "ALIGN_S", "ALIGN_Q", "ALIGN_I", "ALIGN_Z",
                                           "ALIGN_Y", "ALIGN_T", "DTYPE", "ELEM_BYTES"));
  EXPECT_THAT(interface.scalars, ElementsAre("eps"));
}

TEST(OperationParser, TheHashIsOfWhatSaysWhatIsRight) {
  const std::string hash = testing::parse(sample_json())->content_hash;
  json same = sample_json(), other = sample_json();
  same["description"] = "something else";
  same["templates"] = json::array();
  other["bytes"] = "1";
  EXPECT_EQ(testing::parse(same)->content_hash, hash);
  EXPECT_NE(testing::parse(other)->content_hash, hash);
  const auto longer = [](const std::string&) -> Result<std::string> { return std::string("// other\n"); };
  EXPECT_NE(parse_operation(sample_json().dump(), "sample.json", longer)->content_hash, hash);
}

TEST(OperationParser, ReadsResiduals) {
  const auto operation = testing::parse(residual_json());
  ASSERT_TRUE(operation) << operation.error().text();
  EXPECT_EQ(operation->buffers[5].error.rule, ErrorRule::kResidual);
  EXPECT_EQ(operation->buffers[5].error.factor->text(), "4 * N");
  ASSERT_EQ(operation->reference.size(), 2);
  EXPECT_FALSE(operation->reference[0].judges_result());
  EXPECT_TRUE(operation->reference[1].judges_result());
  EXPECT_TRUE(operation->reference[1].names(ReferenceArgumentKind::kResult, 5));
}

TEST(OperationParser, ReadsCountsOfTheData) {
  const auto operation = testing::parse(counting_json());
  ASSERT_TRUE(operation) << operation.error().text();
  ASSERT_EQ(operation->counts.size(), 2);
  EXPECT_EQ(operation->counts[0].kind, CountKind::kSum);
  EXPECT_EQ(operation->counts[1].buffer, 3);
  EXPECT_EQ(operation->counts[1].bound->text(), "M - 3");
  const auto interface = operation->interface();
  EXPECT_THAT(interface.names, ::testing::Not(::testing::Contains("T"))) << "templates cannot know it";
}

TEST(OperationParser, CountsNeedWholeNumbersThatStay) {
  json document = counting_json();
  document["buffers"][3]["role"] = "inout";
  document["buffers"][3]["error"] = {{"rule", "exact"}};
  document["reference"]["kernels"][0]["arguments"].push_back({{"value", "I"}});
  const auto changed = testing::parse(document);
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().text(), HasSubstr("counts[0].buffer: 'I' is not one of Q"));
  document["buffers"][2]["type"] = "e4m3";
  EXPECT_THAT(testing::parse(document).error().text(), HasSubstr("this operation has none"));
}

TEST(OperationParser, ASourceMayNotReachOutOfItsFolder) {
  const auto file = [](const std::string&) -> Result<std::string> { return std::string("#include \"/etc/passwd\"\n"); };
  const auto refused = parse_operation(sample_json().dump(), "sample.json", file);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("/etc/passwd"));
  json absolute = sample_json();
  absolute["reference"]["source"] = "/etc/hosts.cu";
  EXPECT_FALSE(testing::parse(absolute));
}

class MalformedOperation : public ::testing::TestWithParam<Edit> {};

TEST_P(MalformedOperation, IsRefused) { expect_refusal(sample_json(), GetParam(), testing::parse); }

INSTANTIATE_TEST_SUITE_P(
    Fields, MalformedOperation,
    ::testing::Values(
        Edit{"/schema", "2", "schema: ", "use a newer pgtune"}, Edit{"/name", "\"gemm\"", "name: ", "built in"},
        Edit{"/name", "\"a-b\"", "name: ", "letters, digits"}, Edit{"/dimension", "[]", "unknown field", "dimensions"},
        Edit{"/dtypes/0", "\"tf32\"", "dtypes[0]: ", "no type of elements"},
        Edit{"/dtypes/1", "\"bf16\"", "dtypes[1]: ", "twice"}, Edit{"/dimensions", "[]", "dimensions: ", "empty"},
        Edit{"/dimensions/1/name", "\"M\"", "dimensions[1].name: ", "already"},
        Edit{"/derived/0/expr", "\"round_up(K, 8)\"", "derived[0].expr: ", "unknown name 'K'"},
        Edit{"/require/0/reason", R"("\u001b[31mred")", "require[0].reason: ", "a control character"},
        Edit{"/require/0/reason", "", "require[0]: the field 'reason' is missing", ""},
        Edit{"/scalars/-", "{\"name\": \"eps\", \"value\": 1}", "scalars[1].name: ", "two scalars"},
        Edit{"/scalars/-", "{\"name\": \"X\", \"value\": 1}", "", "a buffer and a scalar are both named 'X'"},
        Edit{"/scalars/-", "{\"name\": \"X_\", \"value\": 1}", "", "'X' and 'X_' are too alike"},
        Edit{"/scalars/0/value", "1e39", "scalars[0].value: ", "1e+39 is beyond f32"},
        Edit{"/scalars/0/value", "1e-60", "scalars[0].value: ", "1e-60 is 0 in f32"},
        Edit{"/flops", "2", "flops: ", "expression in a string"}, Edit{"/bytes", "", "the field 'bytes'", ""},
        Edit{"/unit", "\"MB/s\"", "unit: ", "GB/s"}));

INSTANTIATE_TEST_SUITE_P(
    Buffers, MalformedOperation,
    ::testing::Values(
        Edit{"/buffers/0/type", "\"f64\"", "buffers[0].type: ", "dtype"},
        Edit{"/buffers/0/type", "", "buffers[0]: the field 'type'", ""},
        Edit{"/buffers/0/type", "8", "buffers[0].type: ", "expected a string"},
        Edit{"/buffers/0", "8", "buffers[0]: the field 'name' is missing", ""},
        Edit{"/buffers/0/role", "\"input\"", "buffers[0].role: ", "in"},
        Edit{"/buffers/0/extents", "[]", "buffers[0].extents: ", "empty"},
        Edit{"/buffers/0/extents", "[\"1\",\"1\",\"1\",\"1\",\"1\"]", "buffers[0].extents: ", "4"},
        Edit{"/buffers/0/strides", "[\"1\"]", "buffers[0].strides: ", "2"},
        Edit{"/buffers/1/name", "\"X\"", "buffers[1].name: ", "two buffers 'X'"},
        Edit{"/buffers/1/name", "\"workspace\"", "buffers[1].name: ", "their own memory"},
        Edit{"/buffers/1/fill/linked", "\"X\"", "buffers[1].fill.linked: ", "no buffer that a kernel fills"},
        Edit{"/buffers/1/fill", "{\"normal\": [0, 1], \"constant\": 1}", "buffers[1].fill: ", "exactly one"},
        Edit{"/buffers/1/fill", "\"zeros\"", "buffers[1].fill: ", "data"},
        Edit{"/buffers/2/fill/kernel/arguments/2", "{\"value\": \"Y\"}",
             "buffers[2].fill.kernel.arguments[2].value: ", "only the reference"},
        Edit{"/buffers/3/align", "24", "buffers[3].align: ", "power of two"},
        Edit{"/buffers/3/fill", "{\"normal\": [0, 1]}", "buffers[3].fill.normal: ", "integers are filled"},
        Edit{"/buffers/5/fill", "\"data\"", "buffers[5].fill: ", "only inputs"},
        Edit{"/buffers/5/error", "", "buffers[5]: ", "an output says by \"error\""},
        Edit{"/buffers/0/error", "{\"rule\": \"exact\"}", "buffers[0].error: ", "only outputs"},
        Edit{"/reference/kernels/0/arguments/-", R"({"rounding": "Y"})", "reference.kernels[0].arguments[6]",
             "of an output whose error is a sum's"},
        Edit{"/buffers/5/error/ulp", "1", "buffers[5].error: ", "unknown field 'ulp'"},
        Edit{"/buffers/5/error/rule", "\"close\"", "buffers[5].error.rule: ", "allclose"},
        Edit{"/buffers/5/error/terms", "\"N\"", "buffers[5].error.terms: ", "belongs to the rules sum and blocked"},
        Edit{"/buffers/5/error/block", "8", "buffers[5].error.block: ", "belongs to the rule blocked"},
        Edit{"/buffers/4/error/arithmetic", "\"fp8\"", "buffers[4].error.arithmetic: ", "e4m3"},
        Edit{"/buffers/4/error/rule", "\"blocked\"", "buffers[4].error: the field 'block'", ""},
        Edit{"/buffers/5/error/ulps", "-1", "buffers[5].error.ulps: ", "negative"},
        Edit{"/buffers/4/error/terms", "", "buffers[4].error: the field 'terms'", ""}));

class MalformedResiduals : public ::testing::TestWithParam<Edit> {};

TEST_P(MalformedResiduals, AreRefused) { expect_refusal(residual_json(), GetParam(), testing::parse); }

INSTANTIATE_TEST_SUITE_P(
    All, MalformedResiduals,
    ::testing::Values(
        Edit{"/buffers", "[]", "buffers: ", "empty"},  // then there is none that the reference could name
        Edit{"/buffers/5/error/factor", "", "buffers[5].error: the field 'factor'", ""},
        Edit{"/buffers/5/error/factor", "4", "buffers[5].error.factor: ", "expression in a string"},
        Edit{"/buffers/5/error/rule", "\"exact\"", "buffers[5].error.factor: ", "belongs to the rule residual"},
        Edit{"/buffers/5/error/ulps", "1", "buffers[5].error.ulps: ", "belongs to the rule ulp"},
        Edit{"/reference/kernels/0/arguments/3", "{\"int64\": \"M\"}",
             "reference: ", "{\"value\": \"Y\"} without a result"},
        Edit{"/reference/kernels/1/arguments/1", "{\"int64\": \"M\"}", "reference: ", "nobody writes residuals of 'Y'"},
        Edit{"/reference/kernels/1/arguments/2", "{\"int64\": \"M\"}", "reference: ", "beside the result"},
        Edit{"/reference/kernels/1/arguments/0", "{\"result\": \"X\"}",
             "reference.kernels[1].arguments[0].result: ", "not one of Z, Y"},
        Edit{"/reference/kernels/1/arguments/0", "{\"result\": \"Z\"}",
             "reference.kernels[1].arguments[0].result: ", "whose error is a residual"},
        Edit{"/reference/kernels/1/arguments/0", "{\"buffer\": \"Y\"}",
             "reference.kernels[1]: ", "written by the kernel that is given {\"result\": \"Y\"}"},
        Edit{"/reference/kernels/1/arguments/-", "{\"value\": \"Z\"}",
             "reference.kernels[1]: ", "what is right in 'Z' cannot depend on that"},
        Edit{"/buffers/2/fill/kernel/arguments/2", "{\"result\": \"Y\"}",
             "buffers[2].fill.kernel.arguments[2].result: ", "only the reference"}));

class MalformedCounts : public ::testing::TestWithParam<Edit> {};

TEST_P(MalformedCounts, AreRefused) { expect_refusal(counting_json(), GetParam(), testing::parse); }

INSTANTIATE_TEST_SUITE_P(
    All, MalformedCounts,
    ::testing::Values(
        Edit{"/counts/0/name", "\"M\"", "counts[0].name: ", "already a fact of the problem"},
        Edit{"/counts/0/name", "\"PITCH\"", "derived[0].name: ", "already a count of the data"},
        Edit{"/counts/0/name", "", "counts[0]: the field 'name'", ""},
        Edit{"/counts/1/name", "\"T\"", "counts[1].name: ", "already a count of the data"},
        Edit{"/counts/0/count", "\"mean\"", "counts[0].count: ", "sum, above, nonzero, increases, max"},
        Edit{"/counts/0/buffer", "\"X\"", "counts[0].buffer: ", "not one of Q, I"},
        Edit{"/counts/0", "{\"name\": \"T\", \"count\": \"increases\", \"buffer\": \"Q\", \"expected\": \"0\"}",
             "counts[0].buffer: ", "several dimensions"},
        Edit{"/counts/0/bound", "\"1\"", "counts[0].bound: ", "belongs to the count above"},
        Edit{"/counts/1/bound", "", "counts[1]: the field 'bound'", ""},
        Edit{"/counts/1/expected", "", "counts[1]: the field 'expected'", ""},
        Edit{"/counts/1/expected", "\"T\"", "counts[1].expected: ", "nobody knows before buffers are filled"},
        Edit{"/counts/0/of", "\"I\"", "counts[0]: unknown field", "expected"},
        Edit{"/buffers/0/extents/0", "\"T\"", "buffers[0].extents[0]: ", "only \"flops\" and \"bytes\" may use it"},
        Edit{"/flops", "\"T * T\"", "flops: 'T' is counted in the data", "multiplied by what no count is in"},
        Edit{"/bytes", "\"8 + N * ceil_div(L, 2)\"", "bytes: 'L' is counted in the data", "and nothing else"},
        Edit{"/flops", "\"T * V\"", "flops: ", "unknown name 'V'"}));

INSTANTIATE_TEST_SUITE_P(
    Cases, MalformedOperation,
    ::testing::Values(Edit{"/cases", "[{\"name\": \"flat\"}]", "cases[0]: the field 'fills'", ""},
                      Edit{"/cases", "[{\"name\": \"flat\", \"fills\": [{\"buffer\": \"Z\", \"fill\": \"data\"}]}]",
                           "cases[0].fills[0].buffer: ", "Z"},
                      Edit{"/cases",
                           "[{\"name\": \"flat\", \"fills\": [{\"buffer\": \"S\", \"fill\": {\"linked\": \"Q\"}}]}]",
                           "cases[0].fills[0].fill: ", "a case fills a buffer itself"}));

INSTANTIATE_TEST_SUITE_P(
    Reference, MalformedOperation,
    ::testing::Values(
        Edit{"/reference/source", "", "reference: the field 'source'", ""},
        Edit{"/reference/source", "\"x.cpp\"", "reference.source: 'x.cpp' must be a .cu file", ""},
        Edit{"/templates", R"(["a.json", "./a.json"])", "templates[1]: ", "the template 'a.json' appears twice"},
        Edit{"/reference/kernels", "[]", "reference.kernels: ", "empty"},
        Edit{"/reference/kernels/0/symbol", "\"a b\"", "reference.kernels[0].symbol: ", "kernel's name"},
        Edit{"/reference/kernels/0/arguments/0", "{\"buffer\": \"V\"}",
             "reference.kernels[0].arguments[0].buffer: ", "X"},
        Edit{"/reference/kernels/0/arguments/0", "{\"value\": \"X\"}",
             "reference.kernels[0].arguments[0].value: ", "Z"},
        Edit{"/reference/kernels/0/arguments/0", "{\"bufer\": \"X\"}",
             "reference.kernels[0].arguments[0]: unknown field 'bufer'", "did you mean 'buffer'?"},
        Edit{"/reference/kernels/0/arguments/0", "{}", "reference.kernels[0].arguments[0]: ", "exactly one"},
        Edit{"/reference/kernels/0/arguments/5", "{\"seed\": true}",
             "reference.kernels[0].arguments[5].seed: ", "no seed"},
        Edit{"/reference/kernels/0/arguments/3", "{\"int64\": \"M\"}", "reference: ", "\"value\": \"Y\""},
        Edit{"/reference/kernels/0/arguments/2", "{\"int64\": \"M\"}", "reference: ", "\"scale\": \"Z\""}));

TEST(OperationParser, AWordThatNothingAllowsIsToldSo) {
  json document = sample_json();
  document.erase("scalars");
  EXPECT_THAT(testing::parse(document).error().text(),
              HasSubstr("float32: there is no 'eps', and nothing else to name here; define it first"));
}

TEST(OperationParser, AMissingSourceIsNamedByItsWholeField) {
  const auto none = [](const std::string&) -> Result<std::string> { return fail(ErrorKind::kUsage, "no such file"); };
  EXPECT_EQ(parse_operation(sample_json().dump(), "x.json", none).error().text(),
            "x.json: reference.source: no such file");
}

}  // namespace
}  // namespace pgtune::operation
