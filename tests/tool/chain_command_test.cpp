// SPDX-License-Identifier: MIT
// pgtune chain on the fake GPU, whose times are the simulated one's.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

constexpr const char* kExample = PGTUNE_SOURCE_DIR "/examples/chains/mlp.json";

class ChainCommandTest : public CliTest {
 protected:
  Finished chain(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"chain", example_, "--size", "T=16,H=64", "--size", "F=128"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return pgtune(arguments);
  }
  Finished chain_of(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"chain", path(file)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return pgtune(arguments);
  }
  /// Runs the searches that a dry run names, all or those of launches by themselves.
  void search_all(bool chained = true) {
    const json plan = json::parse(chain({"--dry-run", "--json"}).out);
    for (const std::string text : plan.at("searches")) {
      if (!chained && text.ends_with("--chain")) continue;
      std::istringstream words(text);
      std::vector<std::string> arguments;
      for (std::string word; words >> word;) arguments.push_back(word);
      ASSERT_EQ(arguments.front(), "pgtune");
      arguments.erase(arguments.begin());
      arguments.insert(arguments.end(), {"--budget", "3", "-q"});
      const Finished searched = pgtune(arguments);
      ASSERT_EQ(searched.exit_code, 0) << text << "\n" << searched.err;
    }
  }

  /// No line is wider than a terminal, commands to be copied aside.
  static void expect_narrow(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.size() <= 80 || line.starts_with("pgtune search")) << line;
  }

  std::string example_ = kExample;
};

TEST_F(ChainCommandTest, PlansWithoutAGpu) {
  launch_.environment["PGTUNE_FAKE"] = "list||no_devices";
  const Finished text = chain({"--dry-run"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("mlp T=16,H=64,F=128"), HasSubstr("16x256x64 bf16 nt"),
                              HasSubstr("silu_mul bf16 M=16,N=128"), HasSubstr("activation.GU"),
                              HasSubstr("pgtune search --shape 16x256x64 --dtype bf16 --layout nt --chain\n"),
                              HasSubstr("examples/operations/silu_mul/silu_mul.json --size M=16,N=128")));
  expect_narrow(text.out);
  const json object = json::parse(chain({"--dry-run", "--json"}).out);
  EXPECT_EQ(object.at("searches").size(), 6U);
  EXPECT_EQ(object.at("chain").at("steps").size(), 4U);
  const Finished none = chain();
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("--dry-run"));
}

TEST_F(ChainCommandTest, NamesTheSearchesThatItNeeds) {
  const Finished no_database = chain();
  EXPECT_EQ(no_database.exit_code, 4) << no_database.err;
  ASSERT_EQ(search().exit_code, 0);
  const Finished none = chain();
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("Search first:\n"), HasSubstr("\n  pgtune search --operation rmsnorm"),
                              HasSubstr("\n  pgtune search --shape 16x256x64"), Not(HasSubstr("--chain"))));
  EXPECT_EQ(requests("prepare", "mlp T=16,H=64,F=128"), 0);
}

TEST_F(ChainCommandTest, MeasuresTheChainBesideItsSteps) {
  search_all();
  const Finished text = chain();
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("mlp T=16,H=64,F=128"), HasSubstr("\nalone     70 us: "),
                              HasSubstr("\nchain     74 us a run as one graph, 0.946 (0.946 to 0.946) times"),
                              HasSubstr("\n          4 us more: "), HasSubstr("\noverlap   "),
                              HasSubstr("\nsamples   short, 24 rounds over 3 copies"), HasSubstr("\ngate_up ")));
  expect_narrow(text.out);

  const json object = json::parse(chain({"--json", "--rounds", "6"}).out);
  EXPECT_EQ(object.at("chain"), "mlp");
  EXPECT_EQ(object.at("outcome").at("kind"), "ok");
  EXPECT_TRUE(object.at("complete"));
  EXPECT_EQ(object.at("rounds"), 6);
  EXPECT_NEAR(object.at("steps_s").get<double>(), 70e-6, 1e-12);
  EXPECT_NEAR(object.at("time_s").get<double>(), 74e-6, 1e-12);
  EXPECT_NEAR(object.at("steps_to_chain").at("ratio").get<double>(), 70.0 / 74, 1e-9);
  ASSERT_EQ(object.at("steps").size(), 4U);
  EXPECT_NEAR(object.at("steps")[3].at("share").get<double>(), 25.0 / 70, 1e-9);
  EXPECT_EQ(object.at("steps")[2].at("variant").at("template"), "silu_mul_vectors");
  EXPECT_EQ(object.at("steps")[2].at("overlapping_variant").at("template"), "silu_mul_vectors");
  EXPECT_TRUE(object.at("steps")[0].at("overlapping_variant").is_null());
  EXPECT_EQ(object.at("steps")[1].at("samples").size(), 6U);
  EXPECT_EQ(object.at("overlapping").at("outcome").at("kind"), "ok");
  EXPECT_GT(object.at("overlapping").at("chain_to_overlapping").at("ratio"), 1);
}

TEST_F(ChainCommandTest, AResidualStreamIsChangedInPlace) {
  example_ = PGTUNE_SOURCE_DIR "/examples/chains/residual_mlp.json";
  const Finished plan = chain({"--dry-run"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out,
              AllOf(HasSubstr("norm.R in place, next_norm.R in place"), HasSubstr("add_rmsnorm bf16 M=16,N=64")));
  expect_narrow(plan.out);
  search_all();
  const Finished measured = chain({"--json", "--rounds", "6"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const json object = json::parse(measured.out);
  EXPECT_EQ(object.at("outcome").at("kind"), "ok");
  EXPECT_EQ(object.at("steps").size(), 5U);
  EXPECT_TRUE(object.at("steps")[4].at("overlapping_variant").is_null());
}

TEST_F(ChainCommandTest, SaysWhyAStepDoesNotOverlap) {
  search_all(false);
  const json object = json::parse(chain({"--json", "--rounds", "6"}).out);
  std::string notes;
  for (const std::string note : object.at("notes")) notes += note + "\n";
  EXPECT_THAT(notes, HasSubstr("step 'gate_up' does not overlap the launch before"));
  EXPECT_THAT(notes, HasSubstr("--chain' finds a variant that may"));
  EXPECT_TRUE(object.at("steps")[1].at("overlapping_variant").is_null());
}

TEST_F(ChainCommandTest, WhatGoesWrongIsAnOutcome) {
  search_all(false);
  launch_.environment["PGTUNE_FAKE"] = "prepare|mlp|wrong";
  const Finished wrong = chain({"--json"});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.err;
  const json object = json::parse(wrong.out);
  EXPECT_EQ(object.at("outcome").at("kind"), "wrong_result");
  EXPECT_THAT(object.at("outcome").at("reason"), HasSubstr("step 'gate_up'"));
  EXPECT_TRUE(object.at("time_s").is_null());
  EXPECT_TRUE(object.at("steps")[1].at("time_s").is_null());
  EXPECT_THAT(chain().out, HasSubstr("none: wrong_result: step 'gate_up'"));
  launch_.environment["PGTUNE_FAKE"] = "check|alone|segv";
  EXPECT_THAT(json::parse(chain({"--json"}).out).at("outcome").at("kind"), "crashed");
  launch_.environment["PGTUNE_FAKE"] = "prepare|mlp|error";
  EXPECT_EQ(chain().exit_code, 3);
}

TEST_F(ChainCommandTest, SaysWhatIsWrong) {
  const auto wrong = [&](const Finished& result, const std::string& message) {
    EXPECT_EQ(result.exit_code, 2) << message << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  wrong(chain({"--rounds", "5"}), "too few for an interval");
  wrong(chain({"--dtype", "f16"}), "the chain 'mlp' has no dtype f16");
  wrong(chain({"--dtype", "f17"}), "f17");
  wrong(chain({"--seed", "x"}), "--seed");
  wrong(chain({"--size", "T=1"}), "given twice");
  wrong(chain({"--size", "Q=1"}), "no dimension 'Q'");
  wrong(pgtune({"chain"}), "FILE");
  wrong(pgtune({"chain", kExample, "--size", "T=16"}), "needs a size");
  wrong(pgtune({"chain", kExample, "--size", "T=16,H=60,F=64"}), "multiples of 8");
  wrong(chain_of("none.json"), "none.json");
  write("broken.json", "{\"schema\": 1");
  wrong(chain_of("broken.json"), "broken.json:1:");
  const std::string one_step =
      R"({"schema": 1, "name": "own", "dimensions": [{"name": "T"}], "steps": [{"name": "a", "operation": "OP", "size": {"M": "T"}}]})";
  const auto with_operation = [&](const std::string& operation) {
    std::string text = one_step;
    write("own.json", text.replace(text.find("OP"), 2, operation));
    return chain_of("own.json", {"--size", "T=8"});
  };
  wrong(with_operation("softmix"), "step 'a': unknown operation 'softmix'");
  wrong(with_operation("missing.json"), "step 'a': ");
  wrong(with_operation("gemm"), "step 'a': gemm needs a size N");
  wrong(with_operation("softmax"), "step 'a': the operation 'softmax' needs a size N");
}

}  // namespace
}  // namespace pgtune::tool::test
