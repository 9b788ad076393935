// SPDX-License-Identifier: MIT
// Wrong input: message and exit code.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using UsageTest = CliTest;

struct WrongInput {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> message;  ///< parts of standard error
};

std::string case_name(const ::testing::TestParamInfo<WrongInput>& info) { return info.param.name; }

class WrongInputTest : public CliTest, public ::testing::WithParamInterface<WrongInput> {};

TEST_P(WrongInputTest, IsAUsageErrorWithItsRemedy) {
  const Finished result = pgtune(GetParam().arguments);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, ::testing::StartsWith("pgtune: "));
  for (const std::string& part : GetParam().message) EXPECT_THAT(result.err, HasSubstr(part));
  EXPECT_FALSE(std::filesystem::exists(database()));
}

std::vector<std::string> shape(const std::string& text) { return {"search", "--shape", text}; }
std::vector<std::string> with(const std::string& option, const std::string& value) {
  return {"search", "--shape", "64x64x64", option, value};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WrongInputTest,
    ::testing::Values(WrongInput{"two_extents", shape("4096x4096"), {"'4096x4096' has 2 extents", "4096x4096x4096"}},
                      WrongInput{"zero", shape("0x1x1"), {"M is 0", "at least 1"}},
                      WrongInput{"negative", shape("-1x1x1"), {"M is -1", "at least 1"}},
                      WrongInput{"letters", shape("axbxc"), {"M is 'a'", "not a whole number"}},
                      WrongInput{"four_extents", shape("1x1x1x1"), {"4 extents"}},
                      WrongInput{"empty", shape(""), {"--shape has an empty value"}},
                      WrongInput{"extent_past_64_bits", shape("9223372036854775808x1x1"), {"does not fit 64 bits"}},
                      WrongInput{"product_past_64_bits", shape("4294967296x4294967296x4294967296"), {"64 bits"}},
                      WrongInput{"none", {"search"}, {"no shape given", "--shape"}},
                      WrongInput{"as_positional", {"search", "64x64x64"}, {"did you mean '--shape 64x64x64'?"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Options, WrongInputTest,
    ::testing::Values(
        WrongInput{"dtype", with("--dtype", "f31"), {"unknown dtype 'f31'", "f32"}},
        WrongInput{"layout", with("--layout", "nx"), {"unknown layout 'nx'", "nn, nt, tn or tt"}},
        WrongInput{"batch", with("--batch", "0"), {"--batch '0'"}},
        WrongInput{"octal_batch", with("--batch", "0x10"), {"--batch '0x10'"}},
        WrongInput{"alpha", with("--alpha", "inf"), {"--alpha 'inf'"}},
        WrongInput{"alpha_beyond_float32", with("--alpha", "1e39"), {"alpha is used as float32", "1e+39"}},
        WrongInput{"leading_dimension", with("--lda", "8"), {"lda", "64"}},
        WrongInput{"budget", with("--budget", "60x"), {"--budget '60x'", "60s"}},
        WrongInput{"no_budget", with("--budget", "0s"), {"--budget '0s'"}},
        WrongInput{"negative_budget", with("--budget", "-5s"), {"--budget '-5s'"}},
        WrongInput{"budget_without_a_unit",
                   with("--budget", "60"),
                   {"--budget '60' has no unit", "--budget 60s", "--variants 60"}},
        WrongInput{"total_and_budget",
                   {"search", "--shape", "64x64x64", "--total", "1m", "--budget", "1m"},
                   {"--total excludes"}},
        WrongInput{"no_variants", with("--variants", "0"), {"--variants '0'"}},
        WrongInput{"a_time_of_variants", with("--variants", "60s"), {"--variants '60s'"}},
        WrongInput{"seed", with("--seed", "soon"), {"--seed 'soon'"}},
        WrongInput{"jobs", with("--jobs", "many"), {"--jobs 'many'"}},
        WrongInput{"compile_limit", with("--compile-limit", "60"), {"--compile-limit '60'", "60s"}},
        WrongInput{"compile_memory", with("--compile-memory", "1"), {"--compile-memory '1'", "128"}},
        WrongInput{"regime", with("--regime", "fast"), {"unknown --regime 'fast'", "sustained or burst"}},
        WrongInput{"l2", with("--l2", "cold"), {"unknown --l2 'cold'", "rotated or warm"}},
        WrongInput{"data", with("--data", "ones"), {"unknown --data 'ones'", "uniform, normal, integers or zeros"}},
        WrongInput{"data_seed", with("--data-seed", "-1"), {"--data-seed '-1'"}},
        WrongInput{"settled", with("--settled", "1"), {"--settled"}},
        WrongInput{"strategy", with("--strategy", "best"), {"unknown --strategy 'best'", "guided, model"}},
        WrongInput{"objective", with("--objective", "power"), {"unknown --objective 'power'", "energy or edp"}},
        WrongInput{"lock_clocks", with("--lock-clocks", "high"), {"--lock-clocks 'high'"}},
        WrongInput{"lock_clocks_unit", with("--lock-clocks", "1500000000"), {"Give MHz"}},
        WrongInput{"lock_and_not",
                   {"search", "--shape", "64x64x64", "--lock-clocks", "--no-lock-clocks"},
                   {"exclude each other"}},
        WrongInput{"bench_rounds", {"bench", "--shape", "64x64x64", "--rounds", "few"}, {"--rounds 'few'"}},
        WrongInput{"few_bench_rounds",
                   {"bench", "--shape", "64x64x64", "--rounds", "4", "--device", "0"},
                   {"--rounds 4 are too few"}},
        WrongInput{"many_bench_rounds",
                   {"bench", "--shape", "64x64x64", "--rounds", "10001", "--device", "0"},
                   {"--rounds 10001 are too many"}},
        WrongInput{"no_workers", {"search", "--shape", "64x64x64", "--jobs", "0"}, {"--jobs '0'"}},
        WrongInput{"an_unset_variable",
                   {"search", "--shape", "64x64x64", "--template", ""},
                   {"--template has an empty value"}},
        WrongInput{"an_option_twice",
                   {"search", "--shape", "64x64x64", "--seed", "1", "--seed", "2"},
                   {"--seed is given more than once"}},
        WrongInput{"before_looking_for_a_gpu",
                   {"bench", "--shape", "64x64x64", "--device", "nowhere", "--jobs", "many"},
                   {"--jobs 'many'"}},
        WrongInput{"bench_shape", {"bench"}, {"no shape given"}},
        WrongInput{"color", with("--color", "pink"), {"unknown --color 'pink'"}},
        WrongInput{"no_value", {"search", "--shape"}, {"--shape", "See 'pgtune search --help'"}},
        WrongInput{
            "misspelt_option", {"search", "--shap", "1x1x1"}, {"unknown option '--shap'", "did you mean '--shape'?"}},
        WrongInput{"misspelt_parameter",
                   {"inspect", "--variant", "STAGE=3", "--device", "sm_90a"},
                   {"has no parameter 'STAGE'; did you mean 'STAGES'?"}},
        WrongInput{"misspelt_command", {"serach"}, {"unknown command 'serach'", "did you mean 'search'?"}},
        WrongInput{"unknown_command_with_help", {"nosuchcommand", "--help"}, {"unknown command 'nosuchcommand'"}},
        WrongInput{"misspelt_command_with_help",
                   {"serach", "--help"},
                   {"unknown command 'serach'", "did you mean 'search'?", "See 'pgtune --help'"}},
        WrongInput{"misspelt_command_with_options", {"serach", "--variants", "3", "-h"}, {"unknown command 'serach'"}},
        WrongInput{"misspelt_command_with_version", {"serach", "--version"}, {"unknown command 'serach'"}},
        WrongInput{"misspelt_subcommand_with_help",
                   {"db", "chekc", "--help"},
                   {"unknown command 'chekc'", "did you mean 'check'?", "See 'pgtune db --help'"}},
        WrongInput{"no_command", {}, {"no command given", "See 'pgtune --help'"}}),
    case_name);

TEST_F(UsageTest, ATerminalGetsMessagesInLinesOfItsWidth) {
  EXPECT_THAT(search({"--strategy", "best"}).err, HasSubstr(" stratified or exhaustive.\n"));
  if (const std::string reason = why_no_terminal(); !reason.empty()) GTEST_SKIP() << reason;
  launch_.terminal = true;
  EXPECT_THAT(search({"--strategy", "best"}).err, HasSubstr(" stratified or\r\n  exhaustive.\r\n"));
}

TEST_F(UsageTest, UnknownDevices) {
  for (const char* device : {"every", "sm_1", "gpu", "recording:", "-1"}) {
    const Finished result = search({"--device", device});
    EXPECT_EQ(result.exit_code, 2) << device;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr(std::string("unknown device '") + device + "'"), HasSubstr("recording:FILE")));
  }
  const Finished architecture = search({"--device", "sm_90a"});
  EXPECT_EQ(architecture.exit_code, 2);
  EXPECT_THAT(architecture.err, HasSubstr("'sm_90a' is an architecture, and this command needs a GPU or a recording"));
  const Finished second = search({"--device", "1"});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("there is no GPU 1: this machine has one, number 0"));
  const Finished other = search({"--device", "GPU-12345678"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("no GPU on this machine has the UUID 'GPU-12345678'"));
}

TEST_F(UsageTest, ShapesFilesNameTheLine) {
  write("shapes.txt", "# two shapes\n64x64x64\n\v \f\n  128x64x64  # fine\n64x64\n");
  Finished result = pgtune({"search", "--shapes", path("shapes.txt")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("shapes.txt:5: shape '64x64' has 2 extents"));

  result = pgtune({"search", "--shapes", "/dev/zero"});  // never ends
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("larger than 1 MiB"));
  result = pgtune({"search", "--shapes", path("missing.txt")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("missing.txt"), HasSubstr("No such file")));

  write("empty.txt", "# nothing\n");
  result = pgtune({"search", "--shapes", path("empty.txt")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no shape in"));
}

TEST_F(UsageTest, WhatAnOptionMissesIsToldInOurWords) {
  EXPECT_THAT(pgtune({"export", "header", "--coverage"}).err, HasSubstr("--coverage needs a value."));
  EXPECT_THAT(pgtune({"--verbose"}).err, HasSubstr("--verbose goes with --version."));
}

TEST_F(UsageTest, QuietAndVerboseExcludeEachOther) {
  const Finished result = search({"-q", "-v"});
  EXPECT_EQ(result.exit_code, 2);
}

}  // namespace
}  // namespace pgtune::tool::test
