// SPDX-License-Identifier: MIT
// `search --strategy model` and `guess`: trained on the recordings of this build, kept in the cache.
#include <filesystem>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class TrainedModelTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    launch_.program = PGTUNE_FEW_RECORDINGS;
  }
  json search_by_model(const std::string& database) {
    const Finished found = pgtune({"search", "--shape", "1024x1024x1024", "--template", "sgemm_simt", "--strategy",
                                   "model", "--variants", "4", "--db", path(database), "--json"});
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return json::parse(found.out);
  }

  [[nodiscard]] std::vector<std::filesystem::path> models() const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("."))) {
      if (entry.path().extension() == ".model") out.push_back(entry.path());
    }
    return out;
  }
};

TEST_F(TrainedModelTest, IsFittedOnceAndAgainWhereItsFileIsDamaged) {
  const json first = search_by_model("first.db");
  EXPECT_THAT(first.at("notes").dump(), HasSubstr("the model was trained on "));
  ASSERT_EQ(models().size(), 1U);
  const auto made_at = std::filesystem::last_write_time(models().front());
  const json second = search_by_model("second.db");
  EXPECT_EQ(second.at("best").at("parameters"), first.at("best").at("parameters"));
  EXPECT_EQ(std::filesystem::last_write_time(models().front()), made_at);

  const std::string name = models().front().string();
  std::ofstream(name, std::ios::binary) << "damaged";
  const json third = search_by_model("third.db");
  EXPECT_EQ(third.at("best").at("parameters"), first.at("best").at("parameters"));
  EXPECT_GT(std::filesystem::file_size(name), 1000U);

  const Finished guessed = pgtune({"guess", "--shape", "1100x1024x1024", "--device", "recording", "--json"});
  ASSERT_EQ(guessed.exit_code, 0) << guessed.err;
  const json guess = json::parse(guessed.out);
  EXPECT_TRUE(guess.at("parameters").is_object());
  EXPECT_THAT(guess.at("variant").get<std::string>(), HasSubstr("BM="));
  EXPECT_GE(guess.at("expected_loss").at("p90").get<double>(), guess.at("expected_loss").at("median").get<double>());
  EXPECT_EQ(guess.at("seen_device"), true);
  EXPECT_EQ(models().size(), 2U) << "guesses are validated on all problems";
  EXPECT_EQ(guess.at("judged_by"), 16) << "the nearest";

  // What is exported without a search of its own: 1024x1024x1024 was searched above.
  launch_.environment["PGTUNE_FATBINARY"] = "/nowhere";  // the fake worker's cubins are none
  write("shapes.txt", "1024x1024x1024\n1100x1024x1024\n1024x1024x1024 tf32x3\n");
  const Finished exported = pgtune(
      {"export", "header", "--db", path("second.db"), "--guess", path("shapes.txt"), "--coverage", path("shapes.txt")});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, AllOf(::testing::ContainsRegex("1024x1024x1024 f32 nn +exact +0 %"),
                                  ::testing::ContainsRegex("1100x1024x1024 f32 nn +guess +[0-9.]+ %"),
                                  ::testing::ContainsRegex("1024x1024x1024 tf32x3 nn +guess +[0-9.]+ %")));
  EXPECT_EQ(models().size(), 3U) << "guesses for second.db learn from its searches, too";
  const Finished of_dtype = pgtune({"export", "header", "--db", path("second.db"), "--dtype", "bf16", "--layout", "nt",
                                    "--coverage", path("shapes.txt")});
  ASSERT_EQ(of_dtype.exit_code, 0) << of_dtype.err;
  EXPECT_THAT(of_dtype.out, ::testing::ContainsRegex("1100x1024x1024 bf16 nt +fallback")) << "what a line leaves out";

  const Finished elsewhere = pgtune({"guess", "--shape", "1024x1024x1024", "--device", "sm_80"});
  ASSERT_EQ(elsewhere.exit_code, 0) << elsewhere.err;
  EXPECT_THAT(elsewhere.out, HasSubstr("no search on such a GPU"));
  EXPECT_THAT(elsewhere.out, Not(::testing::ContainsRegex("[^\n]{81}"))) << "fits a terminal";
}

/// While a model of the user's own searches is fitted, a search goes by that of the recordings.
TEST_F(TrainedModelTest, NoSearchWaitsForAFitThatIsDue) {
  const auto search = [&](const char* shape) {
    const Finished found = pgtune({"search", "--shape", shape, "--template", "sgemm_simt", "--strategy", "model",
                                   "--variants", "4", "--db", path("own.db"), "--json"});
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return json::parse(found.out).at("notes").dump();
  };
  const std::string first = search("1040x1024x1024"), second = search("1100x1024x1024");
  const auto shapes = [](const std::string& notes) {
    const auto at = notes.find("the model was trained on ");
    return at == std::string::npos ? 0 : std::atoi(notes.c_str() + at + 25);
  };
  EXPECT_GT(shapes(first), 1);
  EXPECT_EQ(shapes(second), shapes(first)) << "of the recordings alone";
  EXPECT_EQ(models().size(), 2U) << "fitted beside it, for the next one";
  EXPECT_EQ(shapes(search("1300x1024x1024")), shapes(first) + 1)
      << "a fit is due again, and that of one search is there";
  EXPECT_EQ(models().size(), 3U);
}

TEST_F(TrainedModelTest, ALossIsThatOfGuessesAmongAllTemplates) {
  const auto guess = [&](const char* name) {
    std::vector<std::string> words{"guess", "--shape", "1100x1024x1024", "--device", "recording", "--json"};
    if (*name != '\0') words.insert(words.end(), {"--template", name});
    return json::parse(pgtune(words).out);
  };
  const json free = guess("");
  EXPECT_EQ(guess(free.at("template").get<std::string>().c_str()).at("expected_loss"), free.at("expected_loss"));
  EXPECT_FALSE(free.at("expected_loss").is_null());
  EXPECT_NE(free.at("template"), "sgemm_small");
  EXPECT_TRUE(guess("sgemm_small").at("expected_loss").is_null());
}

/// What was found of a very problem is told in place of a guess.
TEST_F(TrainedModelTest, AStoredWinnerIsNotGuessed) {
  ASSERT_EQ(pgtune({"search", "--shape", "1100x1024x1024", "--template", "sgemm_simt", "--strategy", "guided",
                    "--variants", "4", "--db", path("own.db"), "-q"})
                .exit_code,
            0);
  const auto guess = [&](const char* shape) {
    return json::parse(pgtune({"guess", "--shape", shape, "--template", "sgemm_simt", "--device", "0", "--db",
                               path("own.db"), "--json"})
                           .out);
  };
  const json known = guess("1100x1024x1024");
  EXPECT_GT(known.at("measured_s").get<double>(), 0);
  EXPECT_TRUE(known.at("expected_loss").is_null());
  EXPECT_FALSE(guess("1104x1024x1024").contains("measured_s"));
  EXPECT_THAT(pgtune({"guess", "--shape", "1100x1024x1024", "--template", "sgemm_simt", "--device", "0", "--db",
                      path("own.db")})
                  .out,
              AllOf(HasSubstr("measured before"), HasSubstr(known.at("variant").get<std::string>().substr(0, 20))));
}

TEST_F(TrainedModelTest, AnEffortIsToldAndAResultSaysWhatItExpectsToHaveMissed) {
  const auto search = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"search", "--shape", "1024x1024x1024", "--template", "sgemm_simt", "--grid", "preset",
                               "--strategy", "model"});
    return pgtune(more);
  };
  const Finished whole = search({"--effort", "thorough", "--db", path("effort.db")});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.err, ::testing::ContainsRegex("^time      about [0-9ms]+ in all: thorough, 10m00s a problem"));
  const Finished part = search({"--variants", "12", "--db", path("part.db")});
  ASSERT_EQ(part.exit_code, 0) << part.err;
  EXPECT_THAT(part.out, ::testing::ContainsRegex("\ntried     12 of [0-9,]+ variants; the rest may gain "));
  EXPECT_TRUE(json::parse(search({"--variants", "12", "--db", path("part.db"), "--json"}).out)
                  .at("expected_missed")
                  .is_number());
  EXPECT_EQ(search({"--effort", "thorough", "--variants", "8"}).exit_code, 2);
  EXPECT_EQ(search({"--effort", "some"}).exit_code, 2);
}

TEST_F(TrainedModelTest, APlainSearchEndsWhenItIsEnoughAndMoreIsTriedForTheAsking) {
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  const auto search = [&](const char* strategy, std::vector<std::string> more) {
    more.insert(more.begin(), {"search", "--device", "0", "--shape", "1024x1024x1024", "--template", "sgemm_simt",
                               "--db", path("plain.db"), "--strategy", strategy, "--json"});
    Finished found = pgtune(more);
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return found;
  };
  const Finished plain = search("model", {});
  EXPECT_THAT(plain.err, HasSubstr("Ended before all was tried"));
  const json ended = json::parse(plain.out);
  EXPECT_FALSE(ended.at("complete").get<bool>());
  EXPECT_THAT(plain.err, HasSubstr("left of the presets")) << "it goes beyond them by itself";
  EXPECT_LT(ended.at("expected_missed_of_presets"), ended.at("noise").at("margin"));
  EXPECT_GE(ended.at("expected_missed"), ended.at("expected_missed_of_presets"));
  EXPECT_LT(ended.at("counts").at("measured"), ended.at("counts").at("valid"));
  EXPECT_TRUE(json::parse(search("model", {}).out).at("from_database").get<bool>());
  const Finished shown =
      pgtune({"show", "--shape", "1024x1024x1024", "--template", "sgemm_simt", "--db", path("plain.db")});
  EXPECT_THAT(shown.out, HasSubstr("ended when it was enough"));

  const Finished more = search("model", {"--grid", "preset", "--variants", "420"});
  EXPECT_THAT(more.err, Not(HasSubstr("Ended before all was tried")));
  EXPECT_GE(json::parse(more.out).at("counts").at("measured"), 420);
  const json all = json::parse(search("exhaustive", {}).out);
  EXPECT_EQ(all.at("counts").at("measured"), all.at("counts").at("valid"));
  EXPECT_TRUE(all.at("complete").get<bool>());
  EXPECT_LT(all.at("counts").at("valid"), ended.at("counts").at("valid")) << "of the preset alone";
}

}  // namespace
}  // namespace pgtune::tool::test
