// SPDX-License-Identifier: MIT
// Dtypes and output types from the command line to the database and back, on the fake worker.
#include <sstream>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class DtypesTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    json many = json::parse(kTinyTemplate);
    many["name"] = "many";
    many["dtypes"] = {"f32", "tf32", "f16", "bf16", "e4m3", "int8"};
    many["outputs"] = {"f32", "f16", "bf16", "int32"};
    write("many.json", many.dump());
  }

  Finished search_many(const std::vector<std::string>& more) {
    return pgtune(search_arguments(path("many.json"), more));
  }
};

TEST_F(DtypesTest, EachIsAResultOfItsOwn) {
  ASSERT_EQ(search_many({"-q"}).exit_code, 0);
  ASSERT_EQ(search_many({"-q", "--dtype", "bf16"}).exit_code, 0);
  ASSERT_EQ(search_many({"-q", "--dtype", "bf16", "--out", "f32"}).exit_code, 0);
  const Finished shown = pgtune({"show", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  std::vector<std::string> types;
  const json results = json::parse(shown.out).at("results");
  for (const json& result : results)
    types.push_back(result.at("problem").at("dtype").get<std::string>() + " " +
                    result.at("problem").value("out", "usual"));
  EXPECT_THAT(types, ::testing::UnorderedElementsAre("f32 usual", "bf16 usual", "bf16 f32"));
  EXPECT_THAT(pgtune({"show"}).out, HasSubstr("256x256x256 bf16 nn out f32"));
  const Finished csv = pgtune({"report", "--csv"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr(",bf16,bf16,nn,"), HasSubstr(",bf16,f32,nn,"), HasSubstr(",f32,f32,nn,")));
}

TEST_F(DtypesTest, IntegersHaveWholeScalarsAndInt32Results) {
  ASSERT_EQ(search_many({"-q", "--dtype", "int8", "--out", "int32", "--alpha", "2"}).exit_code, 0);
  EXPECT_THAT(pgtune({"show"}).out, HasSubstr("256x256x256 int8 nn alpha 2"));
  EXPECT_THAT(pgtune({"report", "--csv"}).out, HasSubstr(",int8,int32,nn,"));
  const Finished fraction = search_many({"--dtype", "int8", "--alpha", "1.5"});
  EXPECT_EQ(fraction.exit_code, 2);
  EXPECT_THAT(fraction.err, HasSubstr("give --alpha 2"));
}

TEST_F(DtypesTest, ALargerProblemOfTheBaselineIsSaid) {
  const std::vector<std::string> search{"search", "--template", path("many.json"), "--dtype", "e4m3", "--shape"};
  const auto of_shape = [&](const std::string& shape, const std::string& more) {
    std::vector<std::string> arguments = search;
    arguments.insert(arguments.end(), {shape, more});
    return pgtune(arguments);
  };
  const Finished taken = of_shape("256x256x256", "--json");
  ASSERT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.out + pgtune({"report"}).out, Not(HasSubstr("zeros added")));
  EXPECT_THAT(of_shape("100x100x100", "-v").out, HasSubstr("112x112x112, with zeros added"));
  // Answered from the database.
  EXPECT_THAT(json::parse(of_shape("100x100x100", "--json").out).at("notes").dump(),
              HasSubstr("cuBLASLt does not take 100x100x100 in e4m3"));
  EXPECT_THAT(pgtune({"report"}).out,
              HasSubstr("cuBLASLt was timed on 112x112x112 for 100x100x100 e4m3 nn, with zeros added\n"));
}

TEST_F(DtypesTest, OperandsThatLaunchesCopyForTheBaselineAreSaid) {
  const auto search = [&](const std::string& layout, const std::string& more) {
    return pgtune({"search", "--template", path("many.json"), "--dtype", "e4m3", "--layout", layout, "--shape",
                   "256x256x256", more});
  };
  const Finished along_k = search("nt", "--json");
  ASSERT_EQ(along_k.exit_code, 0) << along_k.err;
  EXPECT_FALSE(json::parse(along_k.out).at("baseline").contains("copied"));
  EXPECT_FALSE(json::parse(along_k.out).at("baseline").contains("others"));
  const std::string found = search("tn", "-v").out;
  EXPECT_THAT(found,
              AllOf(::testing::ContainsRegex("laid out before \\(timed alone\\) +[0-9.]+ +[0-9.]+ +1\\.[0-9]+"),
                    HasSubstr("A, B are copied for it"), HasSubstr("product alone takes"), HasSubstr("--layout nt")));
  expect_80_columns(found);
  const json baseline = json::parse(search("tn", "--json").out).at("baseline");
  EXPECT_EQ(baseline.at("copied"), "A, B");
  EXPECT_EQ(baseline.at("others").at(0).at("library"), "cuBLASLt 13.0.0 (fake), operands laid out before");
  const std::string shown = pgtune({"show"}).out;
  EXPECT_THAT(shown, HasSubstr("operands laid out before, timed alone:"));
  EXPECT_THAT(shown, Not(HasSubstr("operation")));
  EXPECT_THAT(pgtune({"report"}).out, HasSubstr("cuBLASLt was timed with copies of A, B for 256x256x256 e4m3 tn\n"));
}

TEST_F(DtypesTest, NamingTheUsualOutputIsTheSameProblem) {
  ASSERT_EQ(search_many({"-q", "--dtype", "f16"}).exit_code, 0);
  const int trials = requests("trial");
  ASSERT_EQ(search_many({"-q", "--dtype", "f16", "--out", "f16"}).exit_code, 0);
  EXPECT_EQ(requests("trial"), trials);
}

TEST_F(DtypesTest, AFileOfShapesMaySayThem) {
  write("shapes.txt", "64x64x64\n64x64x64 bf16 out f32  # wide\n64x64x64 nt e4m3\n64x64x64 tt batch 3\n");
  const Finished result = pgtune({"search", "--template", path("many.json"), "--shapes", path("shapes.txt"), "--dtype",
                                  "tf32", "--layout", "tn", "--dry-run"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out + result.err, AllOf(HasSubstr("64x64x64 tf32 tn"), HasSubstr("64x64x64 bf16 tn out f32"),
                                             HasSubstr("64x64x64 e4m3 nt"), HasSubstr("64x64x64 tf32 tt batch 3")));
  for (const char* line : {"64x64x64 bf15", "64x64x64 bf16 f16", "64x64x64 out", "64x64x64 nn nn", "64x64x64 batch"}) {
    write("wrong.txt", std::string("\n") + line + "\n");
    const Finished wrong = pgtune({"search", "--shapes", path("wrong.txt")});
    EXPECT_EQ(wrong.exit_code, 2) << line;
    EXPECT_THAT(wrong.err, AllOf(HasSubstr("wrong.txt:2:"), HasSubstr("after the shape"))) << line;
  }
  write("wrong.txt", "64x64x64 batch none\n");
  EXPECT_THAT(pgtune({"search", "--shapes", path("wrong.txt")}).err, HasSubstr("wrong.txt:1: batch 'none' is not"));
}

TEST_F(DtypesTest, WhatNoTemplateServesIsToldWithTheRemedy) {
  Finished result =
      pgtune({"space", "--template", "sgemm_simt", "--shape", "64x64x64", "--device", "sm_90a", "--dtype", "bf16"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'sgemm_simt' does not compute in bf16"), HasSubstr("--dtype")));
  json narrow = json::parse(kTinyTemplate);
  narrow["dtypes"] = {"bf16"};
  write("narrow.json", narrow.dump());
  result = pgtune({"space", "--template", path("narrow.json"), "--shape", "64x64x64", "--device", "sm_90a", "--dtype",
                   "bf16", "--out", "f32"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'tiny' does not compute in bf16 with f32 output"), HasSubstr("--out")));
}

}  // namespace
}  // namespace pgtune::tool::test
