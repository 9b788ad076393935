// SPDX-License-Identifier: MIT
// pgtune pipeline on the fake GPU, whose pipelines are the simulated machine's.
#include <csignal>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class PipelineCommandTest : public CliTest {
 protected:
  /// Without guesses, whose model takes seconds to learn.
  Finished pipeline(const std::vector<std::string>& more = {}, const std::string& kernels = "stored") {
    return pgtune({"pipeline", "--shape", "8192x2048x2048", "--dtype", "bf16", "--stream", "A,D", "--pinned-limit",
                   "4096", "--kernels", kernels},
                  more);
  }
};

TEST_F(PipelineCommandTest, MeasuresStoresAndAnswers) {
  const Finished first = pipeline({"--json", "--svg", path("lanes.svg")});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json measured = json::parse(first.out);
  EXPECT_EQ(measured.at("stream"), "A,D");
  EXPECT_TRUE(measured.at("complete"));
  EXPECT_GT(measured.at("share_of_bound"), 0.9);
  EXPECT_GT(measured.at("ladder").size(), 8U);
  EXPECT_FALSE(measured.at("from_database"));
  EXPECT_THAT(read("lanes.svg"), AllOf(HasSubstr("<svg xmlns"), HasSubstr("of chunk 0")));
  const int trials = requests("trial");

  const Finished again = pipeline({"--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const json answered = json::parse(again.out);
  EXPECT_TRUE(answered.at("from_database"));
  EXPECT_EQ(answered.at("best"), measured.at("best"));
  EXPECT_EQ(requests("trial"), trials);
  EXPECT_EQ(pgtune({"db", "check"}).exit_code, 0);
}

TEST_F(PipelineCommandTest, TheSourceOfItsTimesIsToldAndStored) {
  launch_.environment["PGTUNE_FAKE"] = "trace|records|segv";
  const Finished events = pipeline({"--json", "--svg", path("lanes.svg")});
  ASSERT_EQ(events.exit_code, 0) << events.err;
  const json timeline = json::parse(events.out).at("timeline");
  EXPECT_EQ(timeline.at("source"), "events");
  EXPECT_THAT(timeline.at("reason").get<std::string>(), HasSubstr("the run that was to be recorded failed"));
  EXPECT_THAT(read("lanes.svg"), HasSubstr("times from events around each operation"));
  EXPECT_THAT(pipeline().out, HasSubstr("times     from events around each operation: the run that was to be"));

  launch_.environment.erase("PGTUNE_FAKE");
  const Finished recorded = pipeline({"--force", "--svg", path("lanes.svg")});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("\ntimes     from CUPTI's activity records\n"));
  EXPECT_THAT(read("lanes.svg"), HasSubstr("times from CUPTI's activity records"));
  EXPECT_EQ(json::parse(pipeline({"--json"}).out).at("timeline").at("source"), "cupti");
}

TEST_F(PipelineCommandTest, ChunksHaveTheModelsGuesses) {
  launch_.program = PGTUNE_FEW_RECORDINGS;
  const auto names = [](const json& object) {
    std::set<std::string> templates;
    for (const json& time : object.at("chunk_times")) {
      const std::string kernel = time.at("kernel");
      templates.insert(kernel.substr(0, kernel.find('/')));
    }
    return templates;
  };
  const Finished guessed = pipeline({"--json"}, "guess");
  ASSERT_EQ(guessed.exit_code, 0) << guessed.err;
  EXPECT_THAT(guessed.err, HasSubstr("of them guessed"));
  EXPECT_EQ(names(json::parse(guessed.out)).count("simulated"), 0U) << guessed.out;
  const int builds = requests("build"), trials = requests("trial");
  EXPECT_GT(builds, 4);
  // The same kernels: neither measured again nor built.
  EXPECT_TRUE(json::parse(pipeline({"--json"}, "guess").out).at("from_database"));
  EXPECT_EQ(requests("build"), builds);
  EXPECT_EQ(requests("trial"), trials);
  // Others are another search.
  const Finished library = pipeline({"--json"}, "cublaslt");
  EXPECT_EQ(names(json::parse(library.out)), std::set<std::string>{"simulated"});
  EXPECT_GT(requests("trial"), trials);
  EXPECT_EQ(requests("build"), builds);
  EXPECT_EQ(pipeline({}, "fastest").exit_code, 2);
}

TEST_F(PipelineCommandTest, AGuessThatIsNotBuiltIsLeftToCublasLt) {
  launch_.program = PGTUNE_FEW_RECORDINGS;
  launch_.environment["PGTUNE_FAKE"] = "build||fail";
  const Finished result = pipeline({"--json"}, "guess");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("guessed kernel was not built"), HasSubstr("cuBLASLt's is taken")));
  const json outcome = json::parse(result.out);
  for (const json& time : outcome.at("chunk_times")) EXPECT_EQ(time.at("kernel"), "simulated");
}

TEST_F(PipelineCommandTest, WhatAnEarlierVersionSearchedIsMeasuredAgain) {
  ASSERT_EQ(pipeline().exit_code, 0);
  {
    db::Database stored = db::Database::open(database(), db::OpenMode::kReadWriteCreate);
    db::Statement(stored, "UPDATE templates SET content_hash = '1' || substr(content_hash, 2) WHERE name = 'pipeline'")
        .run();
  }
  const int trials = requests("trial");
  ASSERT_EQ(pipeline().exit_code, 0);
  EXPECT_GT(requests("trial"), trials);
}

TEST_F(PipelineCommandTest, SaysItInEightyColumns) {
  const Finished text = pipeline();
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("8192x2048x2048 bf16 nn, streaming A,D"), HasSubstr("of bound"),
                              HasSubstr("serial loop, pageable"), HasSubstr("trap: default stream"),
                              HasSubstr("copy out  |"), HasSubstr("idle: ")));
  expect_80_columns(text.out);
}

TEST_F(PipelineCommandTest, GoesOnFromWhatIsStored) {
  launch_.environment["PGTUNE_FAKE"] = "rates||error";
  EXPECT_EQ(pipeline().exit_code, 3);
  launch_.environment.erase("PGTUNE_FAKE");
  ASSERT_EQ(pipeline({"--pipelines", "1"}).exit_code, 0);
  const int first = requests("trial");
  ASSERT_EQ(pipeline({"--force"}).exit_code, 0);
  const int second = requests("trial");
  ASSERT_EQ(pipeline({"--force"}).exit_code, 0);
  EXPECT_GT(second, first);
  EXPECT_EQ(requests("trial"), second + 1);  // the winner's second check
}

TEST_F(PipelineCommandTest, PlansWithoutAGpu) {
  launch_.environment["PGTUNE_FAKE"] = "list||no_devices";
  const Finished text = pipeline({"--dry-run"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("cut along M, chunks of"));
  const json object = json::parse(pipeline({"--dry-run", "--json"}).out);
  EXPECT_GT(object.at("space"), 100);
  EXPECT_EQ(object.at("cuts"), json({"M"}));
  const Finished none = pipeline();
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("--dry-run"));
  // What the database holds needs none.
  launch_.environment.erase("PGTUNE_FAKE");
  const json measured = json::parse(pipeline({"--json"}).out);
  launch_.environment["PGTUNE_FAKE"] = "list||no_devices";
  const Finished stored = pipeline({"--json"});
  EXPECT_EQ(stored.exit_code, 0);
  EXPECT_THAT(stored.err, HasSubstr("There is no GPU here."));
  EXPECT_EQ(json::parse(stored.out).at("best"), measured.at("best"));
}

TEST_F(PipelineCommandTest, APlanFitsATerminalAndSaysWhyItIsEmpty) {
  const auto plan = [&](const std::vector<std::string>& more) {
    Finished planned = pgtune({"pipeline", "--shape", "65536x4096x4096", "--dtype", "bf16", "--dry-run"}, more);
    expect_80_columns(planned.out);
    return planned;
  };
  EXPECT_THAT(plan({"--pinned-limit", "4096"}).out, Not(HasSubstr("left out")));
  for (const auto& [more, cause] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--cut", "K"}, "left out: a cut along K adds the chunks up in D, which rounds to bf16"},
           {{"--cut", "N", "--stream", "A"}, "left out: a cut along N divides no operand that streams\n"},
           {{"--memory", "pinned", "--pinned-limit", "1"}, "left out: it pins 1024 MiB of host memory"}}) {
    const Finished empty = plan(more);
    EXPECT_EQ(empty.exit_code, 1);
    EXPECT_THAT(empty.out, HasSubstr(cause));
  }
}

TEST_F(PipelineCommandTest, AReportListsWhatWasFound) {
  EXPECT_EQ(pgtune({"report", "--pipelines"}).exit_code, 4);  // no database yet
  ASSERT_EQ(pipeline({"--rounds", "6"}).exit_code, 0);
  const Finished text = pgtune({"report", "--pipelines"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("Fake GPU"), HasSubstr("of bound"), HasSubstr("8192x2048x2048 bf16 nn  A,D")));
  const json results = json::parse(pgtune({"report", "--pipelines", "--json"}).out).at("results");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].at("stream"), "A,D");
  EXPECT_GT(results[0].at("share_of_bound"), 0.9);
  EXPECT_GT(results[0].at("serial_to_best").at("ratio"), 1);
  EXPECT_EQ(pgtune({"report", "--pipelines", "--on", "H100"}).exit_code, 1);
  EXPECT_EQ(pgtune({"report", "--pipelines", "--shape", "64x64x64"}).exit_code, 1);
  EXPECT_EQ(pgtune({"report", "--pipelines", "--template", "x"}).exit_code, 2);
  EXPECT_EQ(pgtune({"report", "--pipelines", "--csv"}).exit_code, 2);
  EXPECT_EQ(pgtune({"report", "--pipelines", "--power"}).exit_code, 2);
}

TEST_F(PipelineCommandTest, ExportsTheBestOneAsAHeader) {
  const std::vector<std::string> which{"export", "pipeline", "--shape", "8192x2048x2048", "--dtype", "bf16"};
  const auto exported = [&](const std::vector<std::string>& more) { return pgtune(which, more); };
  ASSERT_EQ(pipeline({"--memory", "pinned", "--rounds", "6"}).exit_code, 0);
  const Finished none = exported({});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("'pgtune pipeline'"));
  const Finished to_file = exported({"--memory", "pinned", "-o", path("stream.hpp"), "--namespace", "a::b"});
  ASSERT_EQ(to_file.exit_code, 0) << to_file.err;
  EXPECT_THAT(read("stream.hpp"), AllOf(HasSubstr("namespace a::b {"), HasSubstr("8192, 2048, 2048, false, false, 2"),
                                        HasSubstr("Memory::pinned"), HasSubstr("Fake GPU")));
  EXPECT_EQ(exported({"--memory", "pinned"}).out.substr(0, 30), read("stream.hpp").substr(0, 30));
  EXPECT_EQ(exported({"--namespace", "int"}).exit_code, 2);
  EXPECT_EQ(exported({"--stream", "C"}).exit_code, 2);
}

TEST_F(PipelineCommandTest, ThePageShowsThem) {
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const auto data_of = [](const std::string& text) {
    const std::string begin = "<script id=\"data\" type=\"application/json\">";
    const std::size_t from = text.find(begin) + begin.size();
    return json::parse(text.substr(from, text.find("</script>", from) - from));
  };
  const Finished found =
      pgtune({"pipeline", "--shape", "2048x256x256", "--kernels", "stored", "--rounds", "6", "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const json best = json::parse(found.out);
  const std::string written = pgtune({"report", "--html", "-"}).out;
  EXPECT_THAT(written, HasSubstr("function pipelinesSection"));
  const json data = data_of(written);
  ASSERT_EQ(data.at("pipelines").size(), 1U);
  const json& shown = data.at("pipelines").at(0);
  EXPECT_EQ(shown.at("title"), "2048x256x256 f32 nn, streaming A,D");
  EXPECT_NEAR(shown.at("us"), 1e6 * best.at("best").at("time_s").get<double>(), 1e-3 * shown.at("us").get<double>());
  EXPECT_EQ(shown.at("spans").size(), best.at("timeline").at("spans").size());
  EXPECT_EQ(shown.at("times"), "CUPTI's activity records");
  EXPECT_EQ(shown.at("ladder").at(0).at(0), "serial loop, pageable");
  EXPECT_GT(shown.at("serial").at(0), 1);
  EXPECT_EQ(data_of(pgtune({"report", "--html", "-", "--source", "gpu"}).out).at("pipelines").size(), 0U);
}

TEST_F(PipelineCommandTest, SaysWhoHasTheGpuAndWaits) {
  Launch endless = launch_;
  endless.environment["PGTUNE_FAKE"] = "trial||hang";
  endless.arguments = search_arguments(path("tiny.json"), {"--db", path("first.db")});
  Process first(endless);
  await([&] { return requests("trial") > 0; });
  const std::vector<std::string> words{"pipeline", "--shape", "8192x2048x2048", "--stream", "A", "--kernels", "stored"};
  const Finished refused = pgtune(words);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("another pgtune (process " + std::to_string(first.pid()) + ")"),
                                 HasSubstr("measuring on GPU 0"), HasSubstr("--wait")));
  launch_.arguments = words;
  launch_.arguments.emplace_back("--wait");
  Process second(launch_);
  EXPECT_TRUE(second.await_message("GPU 0 is busy: waiting for another pgtune (process "));
  second.signal(SIGINT);
  EXPECT_EQ(second.wait().exit_code, 130);
}

TEST_F(PipelineCommandTest, SaysWhatIsWrong) {
  const auto wrong = [&](const std::vector<std::string>& more, const std::string& message) {
    const Finished result = pipeline(more);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  wrong({"--memory", "fast"}, "Give one of: pageable, pinned");
  wrong({"--cut", "Q"}, "unknown --cut 'Q'");
  wrong({"--beta", "1"}, "unknown option '--beta'");
  wrong({"--rounds", "2"}, "too few");
  wrong({"--cut", "K"}, "its D must be f32");
  const Finished little = pgtune(
      {"pipeline", "--shape", "8192x2048x2048", "--memory", "pinned", "--pinned-limit", "1", "--kernels", "cublaslt"});
  EXPECT_EQ(little.exit_code, 2);
  EXPECT_THAT(little.err, HasSubstr("--pinned-limit allows"));
}

}  // namespace
}  // namespace pgtune::tool::test
