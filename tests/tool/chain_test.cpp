// SPDX-License-Identifier: MIT
// Chained problems from the command line to the database and back, on the fake worker.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class ChainTest : public CliTest {};

TEST_F(ChainTest, IsAResultOfItsOwnThatIsNotExported) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const int trials = requests("trial");
  ASSERT_EQ(search({"-q", "--chain"}).exit_code, 0);
  EXPECT_GT(requests("trial"), trials) << "the same product by itself answers nothing";
  EXPECT_THAT(pgtune({"show"}).out, HasSubstr("256x256x256 f32 nn chained"));
  EXPECT_THAT(pgtune({"report", "--csv"}).out, HasSubstr("\n256x256x256 f32 nn chained,"));
  const json results = json::parse(pgtune({"show", "--json"}).out).at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_NE(results[0].at("problem").contains("chained"), results[1].at("problem").contains("chained"));
  launch_.environment["PGTUNE_FATBINARY"] = "/nowhere";  // the fake worker's cubins are none
  const Finished table = pgtune({"export", "header", "--no-verify", "--template", path("tiny.json")});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.err, HasSubstr("1 of chained launches left out"));
}

TEST_F(ChainTest, AFileOfShapesMaySayIt) {
  write("shapes.txt", "64x64x64\n64x64x64 nt chained\n");
  const Finished result =
      pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt"), "--dry-run"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out + result.err, AllOf(HasSubstr("64x64x64 f32 nt chained"), HasSubstr("64x64x64 f32 nn ")));
}

}  // namespace
}  // namespace pgtune::tool::test
