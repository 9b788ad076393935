// SPDX-License-Identifier: MIT
// Epilogues from the command line to the database and back, on the fake worker.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class EpilogueTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    json fusing = json::parse(kTinyTemplate);
    fusing["name"] = "fusing";
    fusing["epilogues"] = {"bias", "gelu", "silu"};
    write("fusing.json", fusing.dump());
  }

  Finished search_fusing(const std::vector<std::string>& more) {
    return pgtune(search_arguments(path("fusing.json"), more));
  }
};

TEST_F(EpilogueTest, EachIsAResultOfItsOwn) {
  ASSERT_EQ(search_fusing({"-q"}).exit_code, 0);
  EXPECT_THAT(search_fusing({"-q", "--epilogue", "bias,gelu"}).out,
              HasSubstr("pgtune show --shape 256x256x256 --epilogue bias+gelu"));
  const int trials = requests("trial");
  ASSERT_EQ(search_fusing({"-q", "--epilogue", "gelu+bias"}).exit_code, 0);
  EXPECT_EQ(requests("trial"), trials);
  const json results = json::parse(pgtune({"show", "--json"}).out).at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_THAT(pgtune({"show"}).out, HasSubstr("256x256x256 f32 nn epilogue bias+gelu"));
  EXPECT_THAT(
      pgtune({"report", "--csv"}).out,
      AllOf(HasSubstr(",batch,epilogue,device,"), HasSubstr(",256,1,bias+gelu,Fake"), HasSubstr(",256,1,none,Fake")));
}

TEST_F(EpilogueTest, WhatCublasLtDoesNotFuseIsSaid) {
  const Finished silu = search_fusing({"--epilogue", "silu"});
  ASSERT_EQ(silu.exit_code, 0) << silu.err;
  EXPECT_THAT(silu.out, HasSubstr("without silu"));
  EXPECT_THAT(pgtune({"report"}).out, HasSubstr("cuBLASLt has no silu"));
  const Finished gelu = search_fusing({"--epilogue", "gelu"});
  EXPECT_THAT(gelu.out, Not(HasSubstr("without ")));
}

TEST_F(EpilogueTest, AFileOfShapesMaySayThem) {
  write("shapes.txt", "64x64x64\n64x64x64 epilogue bias+gelu\n64x64x64 epilogue none\n");
  const Finished result = pgtune(
      {"search", "--template", path("fusing.json"), "--shapes", path("shapes.txt"), "--epilogue", "silu", "--dry-run"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out + result.err,
              AllOf(HasSubstr("64x64x64 f32 nn epilogue silu"), HasSubstr("64x64x64 f32 nn epilogue bias+gelu"),
                    HasSubstr("64x64x64 f32 nn ")));
  write("wrong.txt", "64x64x64 epilogue tanh\n");
  EXPECT_THAT(pgtune({"search", "--shapes", path("wrong.txt")}).err,
              AllOf(HasSubstr("wrong.txt:1:"), HasSubstr("unknown word 'tanh'")));
  write("wrong.txt", "64x64x64 epilogue\n");
  EXPECT_THAT(pgtune({"search", "--shapes", path("wrong.txt")}).err, HasSubstr("'epilogue bias,gelu'"));
}

TEST_F(EpilogueTest, WhatNoTemplateFusesIsToldWithTheRemedy) {
  Finished result = search_fusing({"--epilogue", "relu"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'fusing' does not fuse the epilogue relu"), HasSubstr("--epilogue")));
  result = search_fusing({"--epilogue", "bias,bias"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("the bias is there twice"), HasSubstr("give 'bias'")));
}

}  // namespace
}  // namespace pgtune::tool::test
