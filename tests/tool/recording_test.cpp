// SPDX-License-Identifier: MIT
// The recordings that pgtune ships: a search without a GPU prints what each holds.
#include <fmt/format.h>

#include <map>

#include "tests/tool/cli_fixture.hpp"
#include "tests/tool/recordings.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

/// A line for a file of shapes or sizes. Recorded GEMMs have packed leading dimensions, alpha 1 and beta 0.
std::string line_of(const json& problem) {
  if (problem.contains("operation")) {
    std::string line;
    for (const json& size : problem.at("operation").at("sizes"))
      line += fmt::format("{}{}={}", line.empty() ? "" : ",", size.at("name").get<std::string>(),
                          size.at("value").get<std::int64_t>());
    return line + '\n';
  }
  std::string line = fmt::format("{}x{}x{} {} {} batch {}", problem.at("m").get<int>(), problem.at("n").get<int>(),
                                 problem.at("k").get<int>(), problem.at("dtype").get<std::string>(),
                                 problem.at("layout").get<std::string>(), problem.at("batch").get<int>());
  if (problem.contains("out")) line += " out " + problem.at("out").get<std::string>();
  if (problem.contains("epilogue")) line += " epilogue " + problem.at("epilogue").get<std::string>();
  return line + '\n';
}

/// What the command line says of a problem beside its line in a file: the same for all that one search can take.
std::vector<std::string> words_of(const json& problem) {
  if (!problem.contains("operation")) return {"--shapes"};
  const json& operation = problem.at("operation");
  std::vector<std::string> words{"--operation", operation.at("name").get<std::string>()};
  if (operation.at("has_dtypes").get<bool>())
    words.insert(words.end(), {"--dtype", problem.at("dtype").get<std::string>()});
  words.emplace_back("--sizes");
  return words;
}

class RecordingTest : public CliTest {};
class EachRecording : public CliTest, public testing::WithParamInterface<std::filesystem::path> {};

TEST_P(EachRecording, AnswersForItsProblems) {
  const Finished stored = pgtune({"show", "--json", "--db", GetParam().string()});
  ASSERT_EQ(stored.exit_code, 0) << stored.err;
  const json recorded = json::parse(stored.out).at("results");
  ASSERT_FALSE(recorded.empty());
  std::map<std::vector<std::string>, std::string> searches;  // the lines of each
  for (const json& result : recorded) searches[words_of(result.at("problem"))] += line_of(result.at("problem"));
  std::map<std::string, json> found;
  for (const auto& [own, lines] : searches) {
    write("problems.txt", lines);
    std::vector<std::string> words{"search", "--device", "recording:" + GetParam().string(), "--json"};
    words.insert(words.end(), own.begin(), own.end());
    words.push_back(path("problems.txt"));
    const Finished answers = pgtune(words);
    ASSERT_EQ(answers.exit_code, 0) << answers.err;
    const json output = json::parse(answers.out);
    for (const json& result : output.contains("results") ? output.at("results") : json::array({output}))
      found[result.at("problem").dump()] = result;
  }
  for (const json& result : recorded) {
    const std::string problem = result.at("problem").dump();
    ASSERT_TRUE(found.contains(problem)) << problem;
    EXPECT_EQ(found.at(problem).at("source"), "recorded");
    EXPECT_EQ(found.at(problem).at("best"), result.at("best")) << problem;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, EachRecording, testing::ValuesIn(recordings()), recording_name);

TEST_F(RecordingTest, AutoTakesItWhereThereIsNoGpu) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = pgtune({"search", "--shape", "1000x1000x1000", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("source"), "recorded");
  EXPECT_THAT(result.err, HasSubstr("No GPU to search on: recorded answers, nothing is run here.\ncause "));
}

TEST_F(RecordingTest, AProblemItDoesNotHoldIsRefusedWithThoseItDoesAndAGuess) {
  launch_.program = PGTUNE_FEW_RECORDINGS;
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = pgtune({"search", "--shape", "777x777x777"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("777x777x777"), HasSubstr("1000x1000x1000"), HasSubstr("'pgtune guess' takes ")));
}

TEST_F(RecordingTest, AListsShapesAreAnsweredBesideItsRanges) {
  write("mixed.txt", "1000x1000x1000\n1..64x512x512\n");
  const Finished found = pgtune({"search", "--shapes", path("mixed.txt"), "--device", "recording"});
  EXPECT_EQ(found.exit_code, 3);
  EXPECT_THAT(found.out, HasSubstr("1000x1000x1000 f32 nn on "));
  EXPECT_THAT(found.err, HasSubstr("1..64x512x512 f32 nn: a range of M needs a GPU"));
  EXPECT_THAT(pgtune({"show", "--shapes", path("mixed.txt")}).err,
              HasSubstr("1 of 2 shapes have no result, the first 1..64x512x512 f32 nn."));
  EXPECT_THAT(pgtune({"bench", "--shapes", path("mixed.txt")}).err,
              HasSubstr("mixed.txt:2: '1..64x512x512' is a range"));
}

TEST_F(RecordingTest, TheGuessIsThatOfTheCommandNamed) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const std::vector<std::string> problem{"--operation", "transpose", "--dtype", "int8", "--size", "M=5104,N=5120"};
  const Finished guess = pgtune({"guess", "--json"}, problem);
  ASSERT_EQ(guess.exit_code, 0) << guess.err;
  const json guessed = json::parse(guess.out);
  EXPECT_THAT(pgtune({"search"}, problem).err,
              AllOf(HasSubstr("'pgtune guess' takes a variant of " + guessed.at("template").get<std::string>() + " on"),
                    Not(HasSubstr(guessed.at("variant").get<std::string>()))));
}

}  // namespace
}  // namespace pgtune::tool::test
