// SPDX-License-Identifier: MIT
// pgtune bench: chosen variants measured in a fresh process, beside what is stored of them.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

class BenchTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Finished result = search({"--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    searched_ = json::parse(result.out);
    std::filesystem::remove(path("requests.log"));
  }
  Finished bench(const std::vector<std::string>& more = {}) {
    return pgtune({"bench", "--template", path("tiny.json"), "--shape", "256x256x256"}, more);
  }
  json benched(std::vector<std::string> more, int exit_code = 0) {
    more.emplace_back("--json");
    const Finished result = bench(more);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return json::parse(result.out);
  }
  [[nodiscard]] std::string key(std::size_t place) const {
    return searched_.at("ranking").at(place).at("variant").get<std::string>();
  }
  json searched_;
};

TEST_F(BenchTest, TheBestHoldsOnAnUnchangedGpu) {
  const Finished text = bench();
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.err, StartsWith("clocks    observed, not locked; --lock-clocks"));
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("256x256x256 f32 nn on Fake GPU, measured again"), HasSubstr("x cuBLASLt's best ("),
                    HasSubstr("\nheld: "), HasSubstr("\nvariant   tiny; "), HasSubstr("\nmeasured  sustained, "),
                    HasSubstr("\nstored    20"), Not(HasSubstr(key(0))), Not(HasSubstr("\nnoise     "))));
  expect_80_columns(text.out);
  EXPECT_LE(std::count(text.out.begin(), text.out.end(), '\n'), 15);
  EXPECT_EQ(requests("trial"), 1);
}

TEST_F(BenchTest, VerboseHasTheKeyTheNoiseAndTheNotes) {
  const Finished text = bench({"--verbose"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("ms now"), HasSubstr("\n#1        " + key(0)), HasSubstr("\nnoise     "),
                              HasSubstr("\nregime    sustained")));
}

TEST_F(BenchTest, SeveralVariantsAreRowsInTheColourOfWhatBecameOfThem) {
  launch_.environment["PGTUNE_FAKE"] = "round|final|slower";
  const Finished text = bench({"--variant", key(0), "--variant", key(1), "--color", "always"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("ms now"), ::testing::ContainsRegex("\033.31m#[12] .* slower\033"),
                              HasSubstr("\n#2        tiny; ")));
}

TEST_F(BenchTest, JsonHasStoredAndNow) {
  const json object = benched({"--rounds", "12"});
  EXPECT_EQ(object.at("schema"), 2);
  ASSERT_EQ(object.at("variants").size(), 1U);
  const json& variant = object.at("variants").at(0);
  EXPECT_EQ(variant.at("variant"), key(0));
  EXPECT_EQ(variant.at("held"), "held");
  EXPECT_EQ(variant.at("stored").at("time_s"), searched_.at("best").at("time_s"));
  EXPECT_NEAR(variant.at("now").at("ratio_to_baseline").get<double>(),
              searched_.at("best").at("ratio_to_baseline").get<double>(), 0.01);
  EXPECT_EQ(object.at("conditions").at("regime"), "sustained");
  EXPECT_EQ(object.at("complete"), true);
  int rounds = 0;
  std::istringstream log(read("requests.log"));
  for (std::string line; std::getline(log, line);) rounds += line.find(" round final ") != std::string::npos ? 1 : 0;
  EXPECT_EQ(rounds, 12);
}

TEST_F(BenchTest, ItAppendsAndReplacesNoAnswer) {
  const std::string before = pgtune({"show", "--json"}).out;
  (void)benched({"--power"});
  EXPECT_EQ(pgtune({"show", "--json"}).out, before);
  EXPECT_EQ(search({"--json"}).exit_code, 0);
}

TEST_F(BenchTest, VariantsAreChosenByKey) {
  const json object = benched({"--variant", key(1), "--variant", "best", "--variant", key(0)});
  ASSERT_EQ(object.at("variants").size(), 2U);
  EXPECT_EQ(requests("trial"), 2);
}

TEST_F(BenchTest, AVariantThatWasOnlyScreenedHasNoRatioToHold) {
  std::string screened;  // the slowest: in no final
  for (const char* copy : {"ldg", "cp_async"}) {
    for (const char* tile : {"BM=32,BN=32", "BM=32,BN=64", "BM=32,BN=128", "BM=64,BN=32", "BM=64,BN=64"}) {
      const std::string key = std::string(tile) + ",COPY=" + copy;
      if (searched_.at("ranking").dump().find(key) == std::string::npos) screened = key;
    }
  }
  ASSERT_FALSE(screened.empty());
  const json object = benched({"--variant", screened});
  EXPECT_EQ(object.at("variants").at(0).at("held"), "unclear");
  EXPECT_TRUE(object.at("variants").at(0).at("stored").at("ratio_to_baseline").is_null());
  EXPECT_GT(object.at("variants").at(0).at("stored").at("time_s").get<double>(), 0);
}

TEST_F(BenchTest, WhatDoesNotHoldIsDataNotAnError) {
  launch_.environment["PGTUNE_FAKE"] = "round|final|slower";
  const json object = benched({});
  EXPECT_EQ(object.at("variants").at(0).at("held"), "slower");
  EXPECT_THAT(bench().out, HasSubstr("slower now: "));
}

TEST_F(BenchTest, AnUnknownKeyIsAUsageErrorWithASuggestion) {
  std::string misspelt = key(0);
  misspelt.replace(misspelt.find("COPY"), 4, "COPI");
  const Finished near = bench({"--variant", misspelt});
  EXPECT_EQ(near.exit_code, 2);
  EXPECT_THAT(near.err, AllOf(HasSubstr("no variant '" + misspelt + "'"), HasSubstr("did you mean '")));
  const Finished far = bench({"--variant", "fastest"});
  EXPECT_EQ(far.exit_code, 2);
  EXPECT_THAT(far.err, AllOf(HasSubstr("known: best, "), HasSubstr(key(0)), HasSubstr("pgtune show --json")));
  EXPECT_EQ(requests("prepare"), 0);
}

TEST_F(BenchTest, NothingStoredIsExitCodeOneWithTheRemedy) {
  const Finished shape = pgtune({"bench", "--template", path("tiny.json"), "--shape", "64x64x64"});
  EXPECT_EQ(shape.exit_code, 1);
  EXPECT_EQ(shape.out, "");
  EXPECT_THAT(shape.err, AllOf(HasSubstr("nothing is stored for 64x64x64"),
                               HasSubstr("'pgtune search --shape 64x64x64 --template " + path("tiny.json") + "'")));
  const Finished conditions = bench({"--regime", "burst"});
  EXPECT_EQ(conditions.exit_code, 1);
  EXPECT_THAT(conditions.err, HasSubstr("burst, L2 rotated"));
  const Finished missing = bench({"--db", path("missing.db")});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(path("missing.db")));
}

TEST_F(BenchTest, AVariantThatFailsIsNamedWithItsReason) {
  launch_.environment["PGTUNE_FAKE"] = "trial||wrong";
  const Finished result = bench();
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("failed    " + key(0)), HasSubstr("wrong_result")));
}

/// A variant that no search of 128x128x128 has tried.
class UntriedTest : public BenchTest {
 protected:
  void SetUp() override {
    BenchTest::SetUp();
    ASSERT_EQ(
        pgtune({"search", "--template", path("tiny.json"), "--shape", "128x128x128", "--variants", "3"}).exit_code, 0);
    const std::string tried = read("requests.log");
    for (const char* tile : {"BM=32,BN=32", "BM=32,BN=64", "BM=32,BN=128", "BM=64,BN=32"}) {
      const std::string key = std::string(tile) + ",COPY=ldg";
      if (tried.find(" trial " + key) == std::string::npos) untried_ = key;
    }
    ASSERT_FALSE(untried_.empty());
  }
  std::string untried_;
};

TEST_F(UntriedTest, IsMeasuredBesideWhatIsStored) {
  const std::vector<std::string> arguments{"bench",   "--template",  path("tiny.json"),
                                           "--shape", "128x128x128", "--variant",
                                           "best",    "--variant",   "tiny/" + untried_};
  const Finished text = pgtune(arguments, {"--verbose"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("measured again"), HasSubstr("held: "), HasSubstr("new: "),
                              HasSubstr(" of the baseline, nothing stored"), HasSubstr(untried_)));
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const json variants = json::parse(pgtune(as_json).out).at("variants");
  ASSERT_EQ(variants.size(), 2U);
  const auto fresh =
      std::find_if(variants.begin(), variants.end(), [&](const json& one) { return one.at("variant") == untried_; });
  ASSERT_NE(fresh, variants.end());
  EXPECT_EQ(fresh->at("held"), "new");
  EXPECT_TRUE(fresh->at("stored").is_null());
  EXPECT_TRUE(fresh->at("time_to_stored").is_null());
  EXPECT_GT(fresh->at("now").at("ratio_to_baseline").get<double>(), 0);
}

TEST_F(UntriedTest, NeedsNothingStored) {
  const Finished done = pgtune({"bench", "--template", path("tiny.json"), "--shape", "64x64x64", "--variant", untried_,
                                "--db", path("none-yet.db"), "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const json object = json::parse(done.out);
  EXPECT_EQ(object.at("variants").at(0).at("held"), "new");
  EXPECT_TRUE(object.at("stored_on").is_null());
  const Finished text = pgtune({"bench", "--template", path("tiny.json"), "--shape", "64x64x64", "--variant", untried_,
                                "--db", path("none-yet.db")});
  EXPECT_THAT(text.out, AllOf(HasSubstr("64x64x64 f32 nn on Fake GPU, measured\n"), Not(HasSubstr("\nstored "))));
}

TEST_F(UntriedTest, WhatIsNoWholeKeyIsNotGuessedAt) {
  const Finished part = pgtune({"bench", "--template", path("tiny.json"), "--shape", "64x64x64", "--variant", "BM=32"});
  EXPECT_EQ(part.exit_code, 1);
  EXPECT_THAT(part.err, AllOf(HasSubstr("nothing is stored for 64x64x64"), HasSubstr("a whole key")));
  const Finished no_database = bench({"--variant", "BM=32", "--db", path("missing.db")});
  EXPECT_EQ(no_database.exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(path("missing.db")));
  const Finished beside_stored = bench({"--variant", "BM=32"});
  EXPECT_EQ(beside_stored.exit_code, 2);
  EXPECT_THAT(beside_stored.err, AllOf(HasSubstr("is no whole key of one; it lacks "), Not(HasSubstr("known: "))));
}

TEST_F(UntriedTest, AKeyMayBeginWithItsTemplatesName) {
  for (const char* separator : {"/", " "}) {
    const Finished result = bench({"--variant", "tiny" + (separator + untried_)});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Finished part = bench({"--variant", "tiny" + (separator + std::string("BM=32"))});
    EXPECT_THAT(part.err, HasSubstr("is no whole key of one; it lacks "));
  }
  EXPECT_EQ(bench({"--variant", "other " + untried_}).exit_code, 2);
}

TEST_F(UntriedTest, AKeyMayHaveItsParametersInAnyOrder) {
  const std::size_t comma = untried_.find(',');
  const std::string turned = untried_.substr(comma + 1) + "," + untried_.substr(0, comma);
  const Finished result = bench({"--variant", turned, "--variant", untried_, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json variants = json::parse(result.out).at("variants");
  EXPECT_EQ(variants.size(), 1U) << "both are one variant";
  EXPECT_EQ(bench({"--variant", turned + ",BM=32"}).exit_code, 2) << "a parameter twice";
}

TEST_F(UntriedTest, OneProblemThatCannotBeMeasuredDoesNotTakeTheOthersWithIt) {
  const Finished result = bench({"--shape", "128x128x128", "--shape", "64x64x64", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("nothing is stored for 64x64x64"));
  const json results = json::parse(result.out).at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results.at(1).at("problem").at("m"), 128);
}

TEST_F(BenchTest, TheDocumentOfSeveralShapesIsAListHoweverManyAreStored) {
  const json document = benched({"--shape", "64x64x64"}, 1);
  ASSERT_EQ(document.at("results").size(), 1U);
  EXPECT_EQ(document.at("results").at(0).at("problem").at("m"), 256);
}

TEST_F(BenchTest, LocksTheClocksWhereAsked) {
  ASSERT_EQ(search({"--lock-clocks=1485", "-q"}).exit_code, 0);
  const json object = benched({"--lock-clocks=1485"});
  EXPECT_EQ(object.at("conditions").at("locked_sm_clock_hz"), 1.485e9);
  EXPECT_EQ(requests("lock"), 2);
  EXPECT_EQ(requests("release"), 2);
}

}  // namespace
}  // namespace pgtune::tool::test
