// SPDX-License-Identifier: MIT
// Colour decision, live line, tables, quantities and paths, without a process.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/paths.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/util/count_text.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

using ::testing::ElementsAre;

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end() || found->second.empty()) return std::nullopt;
    return found->second;
  };
}

TEST(Harmless, KeepsTextAndColours) {
  const std::string text = "a\tb\n\033[32mgood\033[0m \u00e9 \u00b1 \u4e2d";
  EXPECT_EQ(harmless(text), text);
}

TEST(Harmless, ReplacesWhatSteersATerminal) {
  EXPECT_EQ(harmless("\033[2J"), "?[2J");
  EXPECT_EQ(harmless("\033]0;title\a"), "?]0;title?");
  EXPECT_EQ(harmless("\033["), "?[");
  EXPECT_EQ(harmless("\033[32"), "?[32");
  EXPECT_EQ(harmless("a\rb\bc\x7f"), "a?b?c?");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "2J"),
            "?2J");
  EXPECT_EQ(harmless("\xc2"), "?");
  EXPECT_EQ(harmless("a\xff\xe4\xb8z"), "a???z");
  EXPECT_EQ(harmless(std::string_view("a\0z", 3)), "a?z");
}

TEST(Color, OptionBeatsEnvironmentBeatsTerminal) {
  EXPECT_TRUE(wants_color(ColorMode::kAuto, true, environment({})));
  EXPECT_FALSE(wants_color(ColorMode::kAuto, false, environment({})));
  EXPECT_FALSE(wants_color(ColorMode::kAuto, true, environment({{"NO_COLOR", "1"}})));
  EXPECT_TRUE(wants_color(ColorMode::kAuto, true, environment({{"NO_COLOR", ""}})));
  EXPECT_FALSE(wants_color(ColorMode::kAuto, true, environment({{"TERM", "dumb"}})));
  EXPECT_TRUE(wants_color(ColorMode::kAuto, false, environment({{"CLICOLOR_FORCE", "1"}})));
  EXPECT_FALSE(wants_color(ColorMode::kAuto, false, environment({{"FORCE_COLOR", "0"}})));
  EXPECT_TRUE(wants_color(ColorMode::kAlways, false, environment({{"NO_COLOR", "1"}})));
  EXPECT_FALSE(wants_color(ColorMode::kNever, true, environment({{"FORCE_COLOR", "1"}})));
}

TEST(TerminalOutput, ResultsAndNotesInOneFileKeepTheirOrder) {
  const support::ScratchFolder folder;
  const std::filesystem::path path = folder / "both";
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int file = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(1);
    Terminal terminal(environment({}));
    terminal.print("a result\n");
    terminal.note("a note");
    terminal.print("another\n");
    terminal.error("a message");
    _exit(terminal.flush() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(path), "a result\na note\nanother\npgtune: a message\n");
}

TEST(LiveLineText, ElidesTheMiddle) {
  EXPECT_EQ(elided("0123456789", 10), "0123456789");
  EXPECT_EQ(elided("0123456789", 9), "012...789");
  EXPECT_EQ(elided("0123456789", 4), "...9");
  EXPECT_EQ(elided("0123456789", 3), "012") << "dots alone would say nothing";
  EXPECT_EQ(elided("0123456789", 2), "01");
}

TEST(LiveLineText, SaysCountsBestRatioAndTimeLeft) {
  session::Progress progress;
  progress.phase = session::Progress::Phase::kSearch;
  progress.problem.m = progress.problem.n = progress.problem.k = 4096;
  progress.total = 3400;
  progress.done = 120;
  progress.failed = 3;
  progress.cut = 40;
  progress.best_s = 2.712e-3;
  progress.baseline_best_s = 2.769e-3;
  progress.baseline = "cuBLASLt";
  progress.remaining_s = 80;
  EXPECT_EQ(
      progress_text(progress),
      "4096x4096x4096: trying variants, 120 of 3,400, 3 failed; best so far 2.712 ms, 50.68 TFLOP/s, 1.021x cuBLASLt; "
      "1m20s left");
}

TEST(LiveLineText, WhereThereIsLittleRoomTheLeastImportantPartIsLeftOut) {
  session::Progress progress;
  progress.phase = session::Progress::Phase::kSearch;
  progress.problem.m = progress.problem.n = progress.problem.k = 4096;
  progress.total = 91025;
  progress.done = 110;
  progress.failed = 3;
  progress.best_s = 0.2067e-3;
  progress.baseline_best_s = 0.2098e-3;
  progress.baseline = "cuBLASLt";
  progress.remaining_s = 19;
  EXPECT_EQ(progress_text(progress, {}, 120),
            "4096x4096x4096: trying variants, 110 of 91,025; best so far 0.2067 ms, 664.92 TFLOP/s, 1.015x cuBLASLt; "
            "19s left");
  EXPECT_EQ(progress_text(progress, {}, 99),
            "4096x4096x4096: trying variants, 110 of 91,025; best so far 0.2067 ms, 1.015x cuBLASLt; 19s left");
  EXPECT_EQ(progress_text(progress, {}, 79), "trying variants, 110 of 91,025; best so far 1.015x cuBLASLt; 19s left");
  progress.remaining_s = 0.2;
  EXPECT_EQ(progress_text(progress, {}, 79), "trying variants, 110 of 91,025; best so far 1.015x cuBLASLt; 1s left");
  progress.remaining_s = 19;
  EXPECT_EQ(progress_text(progress, "3 of 46, 12m00s left; ", 79),
            "3 of 46, 12m00s left; 4096x4096x4096: trying variants, 110 of 91,025");
  progress.baseline_best_s = 0;
  EXPECT_EQ(progress_text(progress, {}, 79),
            "4096x4096x4096: trying variants, 110 of 91,025; best so far 0.2067 ms; 19s left");
  EXPECT_EQ(progress_text(progress, {}, 30).size(), 30U);
}

TEST(LiveLine, AFileGetsALineInTenSeconds) {
  session::Progress progress;
  Terminal terminal(environment({}));
  LiveLine line(terminal);
  line.set_before("3 of 46, 12m00s left; ");
  ::testing::internal::CaptureStderr();
  line.update(progress);
  progress.phase = session::Progress::Phase::kSearch;
  line.update(progress);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, ::testing::StartsWith("3 of 46, 12m00s left; "));
  EXPECT_EQ(text.find("trying variants"), std::string::npos);
}

TEST(LiveLineText, SettledSamplesAreToldInAdvanceAndInTheirRounds) {
  session::Progress progress;
  progress.problem.m = progress.problem.n = progress.problem.k = 4096;
  progress.settled_rounds_s = 41.6;
  EXPECT_EQ(
      settled_text(progress),
      "4096x4096x4096 meets the power cap: race, final and confirm rounds wait before each sample until the clock "
      "stands still, "
      "and take about 42s");
  progress.phase = session::Progress::Phase::kRace;
  progress.rounds = 2;
  progress.contenders = 14;
  EXPECT_EQ(progress_text(progress), "4096x4096x4096: race in settled samples, pass 1 of 2, 14 variants");
  progress.phase = session::Progress::Phase::kFinal;
  EXPECT_EQ(progress_text(progress), "4096x4096x4096: final in settled samples, round 0 of 2");
  progress.settled_rounds_s = 0;
  EXPECT_EQ(progress_text(progress), "4096x4096x4096: final, round 0 of 2");
}

TEST(LiveLineText, OfAFamilyNamesThePart) {
  session::Progress progress;
  progress.problem.m = progress.problem.n = progress.problem.k = 4096;
  progress.part = "classes";
  progress.phase = session::Progress::Phase::kExpectation;
  EXPECT_EQ(progress_text(progress), "classes, 4096x4096x4096: computing which variants are expected to be fastest");
}

TEST(Quantity, ReadsWell) {
  EXPECT_EQ(duration_text(0.85), "850 ms");
  EXPECT_EQ(duration_text(59.6), "1m00s");
  EXPECT_EQ(duration_text(7500), "2h05m");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(16950912), "16,950,912");
  EXPECT_EQ(count_text(17250000000), "17.2 billion");
  EXPECT_EQ(count_text(368408396773824), "368 trillion");
  EXPECT_EQ(milliseconds_text(2.7123e-3), "2.712");
  EXPECT_EQ(milliseconds_text(12.34567e-6), "0.01235");
  EXPECT_EQ(milliseconds_text(0), "-");
  EXPECT_EQ(milliseconds_text(1e308), "inf") << "whoever wrote that";
}

TEST(TextTable, WrapsOneColumnToTheWidth) {
  TextTable table({{"#", Align::kRight}, {"parameters", Align::kLeft, Wrap::kWords}});
  table.add_row({"1", "BM=128 BN=128 COPY=cp_async"});
  EXPECT_EQ(table.text(20), "#  parameters\n1  BM=128 BN=128\n   COPY=cp_async\n");
  EXPECT_EQ(table.text(80), "#  parameters\n1  BM=128 BN=128 COPY=cp_async\n");
}

TEST(TextTable, ColumnsAreLeftOutInTheirOrderBeforeANameIsBroken) {
  TextTable table({{"problem", Align::kLeft, Wrap::kWords},
                   {.title = "template", .left_out = 1},
                   {.title = "first", .left_out = 2},
                   {"best"}});
  table.add_row({"M=64,N=7168,K=2048", "gemm_wgmma", "101.0", "102.0"});
  EXPECT_EQ(table.text(46),
            "problem             template    first  best\n"
            "M=64,N=7168,K=2048  gemm_wgmma  101.0  102.0\n");
  EXPECT_EQ(table.text(42),
            "problem            template   first best\n"
            "M=64,N=7168,K=2048 gemm_wgmma 101.0 102.0\n")
      << "a gap of one blank";
  EXPECT_EQ(table.text(40),
            "problem             first  best\n"
            "M=64,N=7168,K=2048  101.0  102.0\n"
            "no room in 40 columns: template\n");
  EXPECT_EQ(table.text(26),
            "problem             best\n"
            "M=64,N=7168,K=2048  102.0\n"
            "no room in 26 columns: template, first\n");
  EXPECT_EQ(table.text(20),
            "problem        best\n"
            "M=64,N=7168,   102.0\n"
            "K=2048\n"
            "no room in 20 columns: template, first\n")
      << "nothing else is left to give way";
}

TEST(TextTable, RowsHaveTheirStyleWhereTheTerminalHasColour) {
  TextTable table({{"problem"}, {"verdict"}});
  table.add_row({"a", "faster"}, Style::kGood);
  table.add_row({"b", "tie"});
  Terminal terminal(environment({}));
  terminal.set_color(ColorMode::kNever);
  EXPECT_EQ(table.text(terminal), "problem  verdict\na        faster\nb        tie\n");
  terminal.set_color(ColorMode::kAlways);
  EXPECT_EQ(table.text(terminal), "\033[1mproblem  verdict\033[0m\n\033[32ma        faster\033[0m\nb        tie\n");
}

TEST(TextTable, BreaksAfterCommasAndCutsLongWords) {
  EXPECT_THAT(wrap_text("BM=64,BN=32,BK=8", 12), ElementsAre("BM=64,BN=32,", "BK=8"));
  EXPECT_THAT(wrap_text("abcdefghij", 4), ElementsAre("abcd", "efgh", "ij"));
}

TEST(Budget, IsATimeWithAUnit) {
  EXPECT_DOUBLE_EQ(parse_budget("90s", "--variants"), 90);
  EXPECT_DOUBLE_EQ(parse_budget("1.5m", "--variants"), 90);
  EXPECT_DOUBLE_EQ(parse_budget("2h", "--variants"), 7200);
  EXPECT_THROW(static_cast<void>(parse_budget("500", "--variants")), CommandError);
  EXPECT_THROW(static_cast<void>(parse_budget("soon", "--variants")), CommandError);
  try {
    static_cast<void>(parse_budget("0", "--variants"));
    FAIL() << "no time";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), HasSubstr("not a time. Give 60s"));
  }
}

TEST(PathsTest, FollowXdgAndOverrides) {
  const std::filesystem::path program = "/opt/pgtune/bin/pgtune";
  Paths paths = Paths::find(environment({{"HOME", "/home/me"}}), program);
  EXPECT_EQ(paths.database, "/home/me/.local/share/pgtune/pgtune.db");
  EXPECT_EQ(paths.cache, "/home/me/.cache/pgtune");
  EXPECT_EQ(paths.worker, "/opt/pgtune/bin/pgtune-worker");

  paths = Paths::find(environment({{"HOME", "/home/me"}, {"XDG_DATA_HOME", "relative"}, {"XDG_CACHE_HOME", "/fast"}}),
                      program);
  EXPECT_EQ(paths.database, "/home/me/.local/share/pgtune/pgtune.db");
  EXPECT_EQ(paths.cache, "/fast/pgtune");
  for (const auto& variables : {std::map<std::string, std::string>{}, {{"HOME", "relative"}}})
    EXPECT_TRUE(Paths::find(environment(variables), program).database.is_absolute()) << "the user's own home";

  paths =
      Paths::find(environment({{"PGTUNE_DB", "/d.db"}, {"PGTUNE_CACHE_DIR", "/c"}, {"PGTUNE_WORKER", "/w"}}), program);
  EXPECT_EQ(paths.database, "/d.db");
  EXPECT_EQ(paths.cache, "/c");
  EXPECT_EQ(paths.worker, "/w");
}

TEST(PathsTest, TheWorkerIsBesideTheProgramElseInLibexec) {
  namespace fs = std::filesystem;
  const support::ScratchFolder prefix("a prefix ");
  const fs::path program = prefix / "bin" / "pgtune", installed = prefix / "libexec" / "pgtune" / "pgtune-worker";
  const auto put = [](const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "a worker";
  };
  const auto worker = [&] { return Paths::find(environment({}), program).worker; };
  EXPECT_EQ(worker(), prefix / "bin" / "pgtune-worker") << "where there is none, this one is missed";
  put(installed);
  EXPECT_EQ(worker(), installed);
  put(prefix / "bin" / "pgtune-worker");
  EXPECT_EQ(worker(), prefix / "bin" / "pgtune-worker");
}

TEST(ExitCodes, OfTwoPartsTheWorseEndIsTheWhole) {
  const std::vector<ExitCode> from_good_to_bad{ExitCode::kDone,    ExitCode::kNothingValid, ExitCode::kPartial,
                                               ExitCode::kUsage,   ExitCode::kEnvironment,  ExitCode::kDatabase,
                                               ExitCode::kInternal};
  for (std::size_t bad = 0; bad < from_good_to_bad.size(); ++bad) {
    for (std::size_t good = 0; good <= bad; ++good) {
      EXPECT_EQ(worse(from_good_to_bad[good], from_good_to_bad[bad]), from_good_to_bad[bad]);
      EXPECT_EQ(worse(from_good_to_bad[bad], from_good_to_bad[good]), from_good_to_bad[bad]);
    }
    for (const ExitCode signal : {ExitCode::kInterrupted, ExitCode::kTerminated}) {
      EXPECT_EQ(worse(from_good_to_bad[bad], signal), signal);
      EXPECT_EQ(worse(signal, from_good_to_bad[bad]), signal);
    }
  }
  EXPECT_EQ(worse(ExitCode::kTerminated, ExitCode::kInterrupted), ExitCode::kTerminated) << "the first signal's";
}

}  // namespace
}  // namespace pgtune::tool
