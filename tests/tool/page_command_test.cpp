// SPDX-License-Identifier: MIT
// pgtune report --html: what the page is made of. What a browser makes of it: tests/browser.
#include <algorithm>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class PageTest : public CliTest {
 protected:
  static json data_of(const std::string& page) {
    const std::string begin = "<script id=\"data\" type=\"application/json\">";
    const std::size_t from = page.find(begin);
    EXPECT_NE(from, std::string::npos);
    return json::parse(page.substr(from + begin.size(), page.find("</script>", from) - from - begin.size()));
  }
};

TEST_F(PageTest, HoldsWhatTheDatabaseKnows) {
  launch_.environment["PGTUNE_FAKE"] = "trial|BM=32,BN=32,COPY=ldg|segv";
  ASSERT_EQ(search({"--power", "-q"}).exit_code, 0);
  const Finished written = pgtune({"report", "--html", path("page.html")});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_TRUE(written.out.empty());
  EXPECT_THAT(written.err, HasSubstr("page.html: 1 problem, "));
  const json data = data_of(read("page.html"));
  EXPECT_EQ(data.at("database"), "pgtune.db");
  const json& problem = data.at("problems").at(0);
  EXPECT_EQ(problem.at("title"), "256x256x256 f32 nn");
  const json best = json::parse(pgtune({"report", "--json"}).out).at("results").at(0);
  EXPECT_NEAR(problem.at("tflops").get<double>(), best.at("tflops").get<double>(),
              1e-4 * best.at("tflops").get<double>());
  EXPECT_EQ(problem.at("verdict"), best.at("verdict"));
  EXPECT_FALSE(problem.at("energy").is_null());
  EXPECT_THAT(problem.at("commands").dump(), AllOf(HasSubstr("\"pgtune search --shape 256x256x256 "),
                                                   HasSubstr("\"pgtune export header --shape 256x256x256 ")));
  EXPECT_EQ(problem.at("search").at("tried"), 10);
  EXPECT_EQ(problem.at("search").at("timed"), 9);
  const json names = [&] {
    json out = json::array();
    for (const json& samples : problem.at("samples")) out.push_back(samples.at("name"));
    return out;
  }();
  for (const char* name : {"winner", "runner-up", "baseline best"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name << " of " << names;
  EXPECT_THAT(data.at("texts").dump(), AllOf(HasSubstr("SIGSEGV"), HasSubstr("pgtune search")));
  EXPECT_EQ(data.at("ceilings").size(), 1U);
  EXPECT_TRUE(data.at("comparison").is_null());
}

TEST_F(PageTest, HoldsFamilies) {
  const Finished searched =
      pgtune({"search", "--template", path("tiny.json"), "--shape", "1..96x256x256", "--probes", "0", "-q"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const Finished written = pgtune({"report", "--html", path("page.html")});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.err, HasSubstr("page.html: 1 family, "));
  const json families = data_of(read("page.html")).at("families");
  ASSERT_EQ(families.size(), 1U);
  const json& family = families.at(0);
  EXPECT_EQ(family.at("title"), "1..96x256x256 f32 nn");
  EXPECT_EQ(family.at("first_m"), 1);
  EXPECT_TRUE(family.at("probes").empty());
  const json& last = family.at("intervals").back();
  EXPECT_EQ(last.at(0), 96);
  EXPECT_LT(last.at(1).get<std::size_t>(), family.at("kernels").size());
  EXPECT_GT(last.at(2).get<double>(), 0);
}

TEST_F(PageTest, GoesToStandardOutput) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const Finished page = pgtune({"report", "--html", "-"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_TRUE(page.out.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.err.empty()) << page.err;
}

TEST_F(PageTest, TellsOperationsFromGemm) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const Finished searched = pgtune(
      {"search", "--operation", "softmax", "--size", "M=64,N=1024", "--size", "M=128,N=1024", "--variants", "2", "-q"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const json data = data_of(pgtune({"report", "--html", "-"}).out);
  const json& kinds = data.at("groups").at(0).at("kinds");
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].at("kind"), "f32");
  EXPECT_EQ(kinds[0].at("baseline"), "cuBLASLt");
  EXPECT_EQ(kinds[1].at("kind"), "softmax bf16");
  EXPECT_EQ(kinds[1].at("baseline"), "copy");
  EXPECT_EQ(kinds[1].at("problems"), 2);
  const json& problem = data.at("problems").at(0);
  EXPECT_EQ(problem.at("kind"), "softmax bf16");
  EXPECT_NEAR(problem.at("bytes").get<double>(), 2 * 2 * 64 * 1024, 10) << "X read and Y written once, in five digits";
  EXPECT_THAT(pgtune({"report"}).out,
              AllOf(HasSubstr("softmax bf16, 2 problems: geometric mean "), HasSubstr(" of copy's best (")));
}

TEST_F(PageTest, ComparesWithAnotherDatabase) {
  ASSERT_EQ(search({"-q", "--db", path("old.db")}).exit_code, 0);
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const Finished page = pgtune({"report", "--html", "-", "--against", path("old.db")});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  const json data = data_of(page.out);
  EXPECT_EQ(data.at("comparison").at("name"), "old.db");
  EXPECT_EQ(data.at("comparison").at("rows").at(0).at("change"), "held");
  const Finished text = pgtune({"report", "--against", path("old.db")});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("\n256x256x256 f32 nn "), HasSubstr(" same\n"), HasSubstr("\n1 problem: 1 same\n")));
  const Finished missing = pgtune({"report", "--html", "-", "--against", path("none.db")});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("none.db"));
}

TEST_F(PageTest, SaysWhatIsWrong) {
  const Finished empty = pgtune({"report", "--html", path("page.html")});
  EXPECT_EQ(empty.exit_code, 4);  // there is no database at all
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const Finished filtered = pgtune({"report", "--html", path("page.html"), "--on", "H100"});
  EXPECT_EQ(filtered.exit_code, 1);
  EXPECT_THAT(filtered.err, HasSubstr("leave out a filter"));
  EXPECT_FALSE(std::filesystem::exists(path("page.html")));
  const Finished unwritable = pgtune({"report", "--html", path("none/page.html")});
  EXPECT_EQ(unwritable.exit_code, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("cannot write"));
  const std::vector<std::vector<std::string>> misused{
      {"--html", "-", "--power"}, {"--html", "-", "--csv"}, {"--against", "old.db", "--json"}};
  for (std::vector<std::string> words : misused) {
    words.insert(words.begin(), "report");
    const Finished refused = pgtune(words);
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
  }
}

}  // namespace
}  // namespace pgtune::tool::test
