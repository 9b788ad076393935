// SPDX-License-Identifier: MIT
// Templates that an operation is compared with, from the command line.
#include "tests/tool/operation_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

/// twice.json is compared with the template of twice_plain.json.
class TemplateBaselineTest : public OwnOperationTest {
 protected:
  void SetUp() override {
    OwnOperationTest::SetUp();
    json plain = json::parse(kOwnTemplate);
    plain["name"] = "twice_plain";
    plain["legality"] = {{{"expr", "N >= 1024"}, {"reason", "plain kernels want long rows"}}};
    write("twice_plain.json", plain.dump());
    compare({{{"template", "twice_plain.json"}, {"variant", "THREADS=64"}}});
  }
  void compare(const json& baselines) {
    json operation = json::parse(kOwnOperation);
    operation["baselines"] = baselines;
    write("twice.json", operation.dump());
  }
  Finished search(const std::string& sizes, const std::vector<std::string>& more = {"-q"}) {
    return of("search", path("twice.json"), sizes, more);
  }
};

TEST_F(TemplateBaselineTest, IsWhatRatiosAreToAndNoWinner) {
  const Finished searched = search("N=4096", {"--json"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const json result = json::parse(searched.out), baseline = result.at("baseline");
  EXPECT_THAT(baseline.at("library").get<std::string>(), ::testing::MatchesRegex("twice_plain [0-9a-f]{8}"));
  EXPECT_EQ(baseline.at("others").at(0).at("library"), "copy");
  EXPECT_EQ(result.at("best").at("template"), "twice_simple");
  EXPECT_EQ(requests("trial"), 3) << "the baseline's variants are not searched";
  EXPECT_THAT(search("N=4096").out, AllOf(HasSubstr("x twice_plain's best"), HasSubstr(", copy alone")));
  EXPECT_THAT(pgtune({"show"}).out, AllOf(HasSubstr("of twice_plain's best"), HasSubstr("copy beside it")));
  const Finished benched = of("bench", path("twice.json"), "N=4096");
  EXPECT_THAT(benched.out, HasSubstr("x twice_plain's best"));
}

TEST_F(TemplateBaselineTest, WhatIsNotThereSaysWhyAndTheNextOneIsComparedWith) {
  compare({{{"template", "twice_plain.json"}}, {{"template", "./twice_template.json"}, {"variant", "THREADS=256"}}});
  const Finished illegal = search("N=64", {"--json"});
  ASSERT_EQ(illegal.exit_code, 0) << illegal.err;
  const json baseline = json::parse(illegal.out).at("baseline");
  EXPECT_THAT(baseline.at("library").get<std::string>(), HasSubstr("twice_simple"));
  EXPECT_EQ(baseline.at("others").at(0).at("unavailable"), "plain kernels want long rows");
  EXPECT_THAT(search("N=64", {"-v"}).out, HasSubstr("is not there to be compared with: plain kernels"));
  launch_.environment["PGTUNE_FAKE"] = "build|THREADS=128|fail";
  EXPECT_THAT(search("N=4096", {"-v"}).out, AllOf(HasSubstr("x twice_simple best"), HasSubstr("does not compile")));
}

TEST_F(TemplateBaselineTest, OneThatCrashesCostsItselfAlone) {
  for (const char* fault : {"prepare| built|segv", "prepare| built|context_lost"}) {
    launch_.environment["PGTUNE_FAKE"] = fault;
    const Finished searched = search("N=4096", {"-v", "--force"});
    ASSERT_EQ(searched.exit_code, 0) << fault << searched.err;
    EXPECT_THAT(searched.out, AllOf(HasSubstr("x copy best"), HasSubstr("is not there to be compared with: ")));
  }
  launch_.environment["PGTUNE_FAKE"] = "prepare||segv";
  EXPECT_EQ(search("N=4096", {"-q", "--force"}).exit_code, 3) << "it is not to blame for everything";
}

TEST_F(TemplateBaselineTest, WhatCannotBeMeantIsRefused) {
  json renamed = json::parse(kOwnTemplate);
  renamed["name"] = "copy";
  write("named_copy.json", renamed.dump());
  struct Wrong {
    json baseline;
    const char* what;
  };
  for (const auto& [baseline, what] : {
           Wrong{{{"template", "none.json"}}, "none.json"},
           Wrong{{{"template", "twice_plain"}}, "no template 'twice_plain' among the built-in ones"},
           Wrong{{{"template", "softmax_rows"}}, "and 'twice' is asked for"},
           Wrong{{{"template", "twice_plain.json"}, {"variant", "THREADS=65"}}, "THREADS"},
           Wrong{{{"template", "twice_plain.json"}, {"variant", "WARPS=1"}}, "WARPS"},
           Wrong{{{"template", "named_copy.json"}}, "Rename the template"},
       }) {
    compare(json::array({baseline}));
    for (const char* command : {"search", "space"}) {
      const Finished refused = of(command, path("twice.json"), "N=4096");
      EXPECT_EQ(refused.exit_code, 2) << baseline;
      EXPECT_THAT(refused.err, AllOf(HasSubstr("the operation 'twice' is compared with"), HasSubstr(what)));
    }
  }
  EXPECT_EQ(requests("prepare"), 0);
}

}  // namespace
}  // namespace pgtune::tool::test
