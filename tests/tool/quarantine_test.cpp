// SPDX-License-Identifier: MIT
// Variants that crashed or hung, in later searches of the real program.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

constexpr const char* kCrash = "trial|BM=32,BN=32,COPY=ldg|segv";

class QuarantineTest : public CliTest {
 protected:
  Finished search_of(const std::string& shape, const std::vector<std::string>& more = {}) {
    return pgtune({"search", "--template", path("tiny.json"), "--shape", shape, "--json"}, more);
  }
  static json failed(const Finished& result) { return json::parse(result.out).at("counts").at("failed"); }
};

TEST_F(QuarantineTest, ACrashedVariantIsNotRunOnAnotherProblemUntilAsked) {
  launch_.environment["PGTUNE_FAKE"] = kCrash;
  const Finished first = search_of("256x256x256");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(failed(first), json({{"crashed", 1}}));
  EXPECT_EQ(requests("trial"), 10);

  const Finished second = search_of("512x512x512");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(failed(second), json({{"quarantined", 1}}));
  EXPECT_EQ(requests("trial"), 19);
  EXPECT_THAT(second.err, HasSubstr("1 not run, because the same build crashed or hung before; --retry-failed tries"));

  launch_.environment.erase("PGTUNE_FAKE");
  const Finished third = search_of("512x512x512", {"--retry-failed"});
  ASSERT_EQ(third.exit_code, 0) << third.err;
  EXPECT_TRUE(failed(third).empty()) << failed(third);
  EXPECT_EQ(requests("trial"), 20) << "the others are known";
  EXPECT_EQ(search_of("512x512x512").exit_code, 0);
  EXPECT_EQ(requests("trial"), 20);
}

TEST_F(QuarantineTest, ForceMeasuresTheOthersAgainAndLeavesTheKillerAlone) {
  launch_.environment["PGTUNE_FAKE"] = kCrash;
  ASSERT_EQ(search_of("256x256x256").exit_code, 0);
  const Finished forced = search_of("256x256x256", {"--force"});
  EXPECT_EQ(failed(forced), json({{"quarantined", 1}}));
  EXPECT_EQ(requests("trial"), 19);
}

}  // namespace
}  // namespace pgtune::tool::test
