// SPDX-License-Identifier: MIT
// The recordings that pgtune ships: they fit the shipped templates or are known not to, and a search on one ends as the
// recorded search did.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

/// Recordings made with another version of a template than this build's, and the template: a replay of these is a hint.
/// A file joins the list when a template that it holds is edited, and leaves it when it is recorded anew.
constexpr std::array kOfOtherVersions{
    std::pair{"h200-e4m3", "gemm_skinny"},        std::pair{"h200-e4m3", "sgemm_small"},
    std::pair{"h200-bf16", "gemm_wgmma"},         std::pair{"h200-bf16-settled", "gemm_wgmma"},
    std::pair{"h200-e4m3-settled", "gemm_wgmma"}, std::pair{"h200-tf32-settled", "gemm_wgmma"},
    std::pair{"h200-e5m2", "gemm_wgmma"},         std::pair{"h200-f16", "gemm_wgmma"},
    std::pair{"h200-f32", "sgemm_simt"},          std::pair{"h200-f32", "sgemm_small"},
    std::pair{"h200-f32", "sgemm_tma"},           std::pair{"h200-special", "gemm_mma"},
    std::pair{"h200-special", "gemm_wgmma"},      std::pair{"h200-tf32", "gemm_wgmma"}};

std::set<std::string> listed_for(const std::string& recording) {
  std::set<std::string> templates;
  for (const auto& [file, name] : kOfOtherVersions)
    if (file == recording) templates.emplace(name);
  return templates;
}

std::map<std::string, json> by_problem(const json& results) {
  std::map<std::string, json> found;
  for (const json& result : results) found[result.at("problem").dump()] = result;
  return found;
}

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

std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PGTUNE_SOURCE_DIR "/recordings"))
    if (entry.path().extension() == ".db") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class RecordingTest : public CliTest {};
class EachRecording : public CliTest, public testing::WithParamInterface<std::filesystem::path> {};

/// All problems take minutes of replays; scripts/release-check asks for them, otherwise every third has to do.
bool whole_recordings() { return std::getenv("PGTUNE_TEST_WHOLE") != nullptr; }

TEST_P(EachRecording, HasItsRecordedWinners) {
  const Finished stored = pgtune({"show", "--json", "--db", GetParam().string()});
  ASSERT_EQ(stored.exit_code, 0) << stored.err;
  auto recorded = by_problem(json::parse(stored.out).at("results"));
  ASSERT_FALSE(recorded.empty());
  if (!whole_recordings()) {
    std::size_t index = 0;
    for (auto problem = recorded.begin(); problem != recorded.end(); ++index)
      problem = index % 3 == 0 ? std::next(problem) : recorded.erase(problem);
  }
  std::map<std::vector<std::string>, std::string> searches;  // the lines of each
  for (const auto& [problem, result] : recorded)
    searches[words_of(result.at("problem"))] += line_of(result.at("problem"));
  const std::string device = "replay:" + GetParam().string();
  std::map<std::string, json> found;
  for (const auto& [own, lines] : searches) {
    write("problems.txt", lines);
    std::vector<std::string> words{"search", "--device", device, "--json"};
    words.insert(words.end(), own.begin(), own.end());
    words.push_back(path("problems.txt"));
    const Finished replayed = pgtune(words);
    ASSERT_EQ(replayed.exit_code, 0) << replayed.err;
    const json output = json::parse(replayed.out);
    found.merge(by_problem(output.contains("results") ? output.at("results") : json::array({output})));
  }
  ASSERT_EQ(found.size(), recorded.size());
  std::set<std::string> of_other_versions;
  std::size_t other_ties = 0;
  for (const auto& [problem, result] : recorded) {
    SCOPED_TRACE(problem);
    ASSERT_TRUE(found.contains(problem));
    EXPECT_EQ(found.at(problem).at("source"), "replay");
    of_other_versions.merge(found.at(problem).at("other_versions").get<std::set<std::string>>());
    const double time_s = found.at(problem).at("best").at("time_s").get<double>();
    const double recorded_s = result.at("best").at("time_s").get<double>();
    if (result.at("sampling") == "settled") {
      EXPECT_EQ(found.at(problem).at("best").at("parameters"), result.at("best").at("parameters"));
      EXPECT_DOUBLE_EQ(time_s, recorded_s);
    } else {
      // The finalists and their rounds are the recorded ones. Which of those inside the margin of ties wins follows
      // from the noise floor, whose pairs had no order that is stored, and from how intervals were formed then.
      if (std::abs(time_s / recorded_s - 1) > 1e-9) ++other_ties;
      EXPECT_NEAR(time_s / recorded_s, 1, 0.06);
    }
    EXPECT_EQ(found.at(problem).at("template_hash"), result.at("template_hash"));
  }
  EXPECT_LE(other_ties, (recorded.size() + 4) / 5) << "most of all are exactly as recorded";
  const auto listed = listed_for(GetParam().stem().string());
  EXPECT_TRUE(std::includes(listed.begin(), listed.end(), of_other_versions.begin(), of_other_versions.end()))
      << "kOfOtherVersions is out of date";
  if (whole_recordings()) {
    EXPECT_EQ(of_other_versions, listed) << "kOfOtherVersions is out of date";
  }
}

TEST_F(RecordingTest, OnlyFilesThatAreThereAreListedAsOfOtherVersions) {
  for (const auto& [file, name] : kOfOtherVersions)
    EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/recordings/{}.db", PGTUNE_SOURCE_DIR, file))) << file;
}

INSTANTIATE_TEST_SUITE_P(Shipped, EachRecording, testing::ValuesIn(recordings()), [](const auto& recording) {
  std::string name = recording.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_F(RecordingTest, ADryRunCountsWhatAReplayTriesBeyondPresets) {
  const std::vector<std::string> search{"search", "--shape", "64x64x1024", "--device", "replay", "--json"};
  std::vector<std::string> plan = search;
  plan.emplace_back("--dry-run");
  const json planned = json::parse(pgtune(plan).out).at("counts"), done = json::parse(pgtune(search).out).at("counts");
  EXPECT_EQ(planned.at("searched"), done.at("valid"));
  EXPECT_EQ(planned.at("to_build"), done.at("valid"));
}

TEST_F(RecordingTest, AutoTakesItWhereThereIsNoGpu) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = pgtune({"search", "--shape", "1000x1000x1000", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("source"), "replay");
  EXPECT_THAT(result.err, AllOf(HasSubstr("No GPU"), HasSubstr("replay")));
}

TEST_F(RecordingTest, SaysOfEachProblemWhichGpuItWasRecordedOn) {
  const auto devices_said = [&](const std::string& shape, const std::string& dtype) {
    const Finished result =
        pgtune({"search", "--shape", shape, "--dtype", dtype, "--layout", "nt", "--device", "replay"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> lines;
    std::istringstream all(result.err);
    for (std::string line; std::getline(all, line);) {
      if (line.starts_with("device ")) lines.push_back(line);
    }
    return lines;
  };
  using testing::ElementsAre;
  const std::string all = "what the problem was recorded on: NVIDIA H100 80GB HBM3, NVIDIA H200";
  EXPECT_THAT(devices_said("1024x1024x1024", "e4m3"), ElementsAre(HasSubstr(all), HasSubstr("NVIDIA H200, sm_90a")));
  EXPECT_THAT(devices_said("1024x1024x1024", "bf16"), ElementsAre(HasSubstr(all), HasSubstr("H100 80GB HBM3, sm_90a")));
}

TEST_F(RecordingTest, SaysHowLaunchesCameAndWhereTheSidesDiffer) {
  const auto replayed = [&](const std::string& command, const std::string& shape, const std::string& dtype = "f16") {
    const Finished result =
        pgtune({command, "--shape", shape, "--dtype", dtype, "--layout", "nt", "--device", "replay", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  };
  const std::string note = "of the baseline's are of launches in CUDA graphs";
  const json graphs = replayed("search", "512x512x512"), one_by_one = replayed("search", "16x6144x4096"),
             unequal = replayed("search", "8x18944x3584", "e4m3");
  EXPECT_EQ(graphs.at("in_graphs"), true);
  EXPECT_THAT(graphs.at("notes").dump(), testing::Not(HasSubstr(note)));
  EXPECT_EQ(one_by_one.at("in_graphs"), false);
  EXPECT_THAT(one_by_one.at("notes").dump(), testing::Not(HasSubstr(note)));
  EXPECT_THAT(unequal.at("notes").dump(), HasSubstr(note));
  EXPECT_EQ(replayed("bench", "512x512x512").at("in_graphs"), true);
}

TEST_F(RecordingTest, WhatIsStoredOfAReplayIsFoundAgainWhicheverGpuItWasRecordedOn) {
  std::set<std::string> gpus;
  for (const auto& [dtype, layout] : {std::pair{"f32", "nn"}, std::pair{"bf16", "nt"}}) {
    const std::vector<std::string> problem{"--shape", "1000x1000x1000", "--dtype", dtype, "--layout", layout};
    const auto replayed = [&](std::vector<std::string> words) {
      words.insert(words.end(), problem.begin(), problem.end());
      words.insert(words.end(), {"--device", "replay", "--json"});
      const Finished result = pgtune(words);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      return json::parse(result.out);
    };
    gpus.insert(replayed({"search"}).at("device").at("uuid"));
    EXPECT_TRUE(replayed({"search", "--dry-run"}).at("answered_at").is_string());
    EXPECT_EQ(replayed({"bench"}).at("variants").size(), 1U);
  }
  EXPECT_EQ(gpus.size(), 2U) << "of one GPU this shows nothing";
}

TEST_F(RecordingTest, VariantsItDoesNotHoldAreCountedNotNamed) {
  const Finished result = pgtune({"search", "--shape", "1000x1000x1000", "--device", "replay"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("more were not measured when this was recorded."));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("is not in the recording")));
}

TEST_F(RecordingTest, AProblemItDoesNotHoldIsRefusedWithThoseItDoes) {
  const Finished result = pgtune({"search", "--shape", "777x777x777", "--device", "replay"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("777x777x777"), HasSubstr("1000x1000x1000")));
}

TEST_F(RecordingTest, ASmallerBudgetShowsOnlyWhatWasRecorded) {
  const auto replayed = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"search", "--shape",  "4096x4096x4096", "--dtype", "bf16",  "--layout",
                                   "nt",     "--device", "replay",         "--force", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished result = pgtune(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  };
  std::set<json> finalists;
  const json whole = replayed({});
  ASSERT_TRUE(whole.at("from_final"));
  for (const json& row : whole.at("ranking")) finalists.insert(row.at("parameters"));
  for (const char* budget : {"6", "40", "200"}) {
    const json small = replayed({"--budget", budget});
    EXPECT_EQ(small.at("counts").at("failed").count("not_recorded"), 0U);
    const bool from_final = small.at("from_final");
    EXPECT_EQ(from_final, small.at("notes").dump().find("the times are from screening") == std::string::npos);
    if (!from_final) continue;
    for (const json& row : small.at("ranking"))
      EXPECT_TRUE(finalists.contains(row.at("parameters"))) << budget << ' ' << row;
  }
}

}  // namespace
}  // namespace pgtune::tool::test
