// SPDX-License-Identifier: MIT
// pgtune run, on programs that call fakes of cuBLAS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "tests/support/scratch_folder.hpp"
#include "tests/tool/process.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What `pgtune run` printed, and the list it wrote.
struct Traced {
  Finished finished;
  std::string list;
};

std::string fake(const std::string& name) { return std::string(PGTUNE_FAKES "/") + name; }

Traced trace(const std::vector<std::string>& program, std::map<std::string, std::string> environment = {},
             const std::string& top = "200") {
  const support::ScratchFolder folder;
  const std::string file = (folder / "list").string();
  environment.try_emplace("PATH", "/usr/bin:/bin");
  Launch launch;
  launch.arguments = {"run", "--trace", file, "--top", top, "--"};
  launch.environment = std::move(environment);
  launch.arguments.insert(launch.arguments.end(), program.begin(), program.end());
  Finished finished = run(launch);
  return {std::move(finished), read_file(file).value_or("")};
}

TEST(RunTrace, KeepsTheMajorVersionsApart) {
  for (const std::string major : {"12", "13"}) {
    for (const std::string how : {"cublas_user", "module_user"}) {  // by RPATH, and loaded with RTLD_LOCAL
      SCOPED_TRACE(how + major);
      const Traced traced = trace({fake(how + major), "sgemm"});
      EXPECT_EQ(traced.finished.exit_code, 0) << traced.finished.err;
      EXPECT_EQ(traced.finished.out, major + " cublasSgemm_v2, none\n");
      EXPECT_THAT(traced.list, HasSubstr("32x64x16 f32 nn weight 100.00 # 100.0 %  10 calls"));
    }
  }
}

TEST(RunTrace, LeavesProgramsAloneThatAreBoundToNoVersion) {
  const Traced traced = trace({fake("stub_user"), "sgemm"});
  EXPECT_EQ(traced.finished.out, "stub cublasSgemm_v2, none\n");
  EXPECT_THAT(traced.list, Not(HasSubstr("32x64x16")));
  EXPECT_THAT(traced.finished.err, HasSubstr("No call of cuBLAS was seen"));
}

TEST(RunTrace, LeavesFunctionsAloneThatAProgramFindsItself) {
  const Traced traced = trace({fake("cublas_user13"), "dlsym"});
  EXPECT_EQ(traced.finished.out, "13 cublasSgemm_v2, none\n");
  EXPECT_THAT(traced.finished.err, HasSubstr("No call of cuBLAS was seen"));
}

TEST(RunTrace, CountsACallOnceThatCuBlasPassesOn) {
  const Traced traced = trace({fake("cublas_user12"), "nested"});
  EXPECT_EQ(traced.finished.out, "12 cublasGemmEx, 12 cublasLtMatmul\n");
  EXPECT_THAT(traced.list, HasSubstr("64x32x128 bf16 nt weight 100.00 # 100.0 %  1 call, cublasGemmEx\n"));
}

TEST(RunTrace, ReadsDescriptorsOfCublasLt) {
  EXPECT_THAT(
      trace({fake("cublas_user13"), "lt"}).list,
      HasSubstr("8x256x128 f16 nt epilogue bias+relu lda 136 weight 100.00 # 100.0 %  1 call, cublasLtMatmul\n"));
}

TEST(RunTrace, RefusesEachAttributeOfCublasLtThatItDoesNotKnow) {
  const std::string list = trace({fake("cublas_user13"), "lt_attributes"}).list;
  EXPECT_THAT(list, Not(HasSubstr("weight"))) << "none of them can be searched";
  const auto reasons = [&](const char* reason) {
    std::size_t count = 0;
    for (std::size_t at = list.find(reason); at != std::string::npos; at = list.find(reason, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(reasons("order other than column-major"), 6) << list;
  EXPECT_EQ(reasons("scale factors"), 5) << list;
  EXPECT_EQ(reasons("another attribute of cublasLtMatmul"), 6) << list;
  EXPECT_EQ(reasons("alpha is not 1"), 1) << list;
  EXPECT_EQ(reasons("limited to some"), 1) << list;
}

TEST(RunTrace, TellsModesApart) {
  const std::vector<std::string> program{fake("cublas_user13"), "modes"};
  EXPECT_THAT(trace(program).list,
              AllOf(HasSubstr("32x64x16 tf32 nn"), HasSubstr("32x64x16 f32: alpha is not 1, or alpha and beta are in"),
                    HasSubstr("1 call, cublasDgemm  32x64x16 f64: types or arithmetic")));
  EXPECT_THAT(trace(program, {{"NVIDIA_TF32_OVERRIDE", "0"}}).list, HasSubstr("32x64x16 f32 nn"));
}

TEST(RunTrace, TimesSomeCallsAndNoneOfAGraph) {
  EXPECT_THAT(
      trace({fake("cublas_user13"), "times"}).list,
      HasSubstr("32x64x16 f32 nn weight 100.00 # 100.0 %  10 calls and 2 captured, 125 us each, cublasSgemm\n"));
}

TEST(RunTrace, CountsCallsOfGraphsByTheirLaunches) {
  for (const std::string major : {"12", "13"}) {
    const Traced traced = trace({fake("cublas_user" + major), "graphs"});
    // 2 launches each of graphs with 1 and 3 calls, and of one with none in their place.
    EXPECT_THAT(traced.list, HasSubstr("2 calls and 4 captured that graphs ran 8 times, "));
    EXPECT_THAT(traced.list, HasSubstr("# 1 more, 0.0 % together.")) << "calls of a graph that no launch ran";
    EXPECT_THAT(traced.finished.err, Not(HasSubstr("no launch of these graphs")));
  }
  EXPECT_THAT(trace({fake("cublas_user13"), "times"}).finished.err, HasSubstr("no launch of these graphs was seen"));
}

TEST(RunTrace, LeavesCallsOutThatCublasRefuses) {
  const std::string list = trace({fake("cublas_user13"), "refused"}).list;
  EXPECT_THAT(list, AllOf(HasSubstr("# 2 calls in 1 process"), HasSubstr("8x32x128"),
                          HasSubstr("1 call and 1 captured"), Not(HasSubstr("16x32x128"))));
}

TEST(RunTrace, NamesACuBlasThatIsLoadedAndNotCalled) {
  EXPECT_THAT(trace({fake("stub_user"), "sgemm"}).finished.err,
              HasSubstr("Not seen: libcublas.so.13, libcublasLt.so.13"));
  EXPECT_THAT(trace({fake("module_user13"), "none"}).finished.err, Not(HasSubstr("Not seen")));
  EXPECT_THAT(trace({fake("cublas_user13"), "sgemm"}).finished.err, Not(HasSubstr("Not seen")));
  EXPECT_THAT(trace({"true"}, {{"LD_PRELOAD", fake("libcuda.so.1")}}).finished.err,
              HasSubstr("Not seen: a process that used CUDA and no shared cuBLAS"));
  EXPECT_THAT(trace({"true"}, {{"LD_PRELOAD", fake("libcublasLt.so.13")}}).finished.err, Not(HasSubstr("Not seen")))
      << "without CUDA";
  const std::string both = fake("stub_user") + " sgemm; " + fake("cublas_user13") + " sgemm";
  EXPECT_THAT(trace({"sh", "-c", both}).finished.err, Not(HasSubstr("Not seen")))
      << "a helper beside one that calls it";
}

TEST(RunTrace, CountsEveryCallOfThreads) {
  const std::string list = trace({fake("cublas_user13"), "threads"}).list;
  EXPECT_THAT(list, AllOf(HasSubstr("# 16,000 calls in 1 process"), HasSubstr("\n8..57x")));
}

TEST(RunTrace, CountsChildrenWithAndWithoutExec) {
  const std::string list = trace({fake("cublas_user13"), "children"}).list;
  EXPECT_THAT(list, AllOf(HasSubstr("# 22 calls in 3 processes"), HasSubstr("22 calls, ")));
}

TEST(RunTrace, LosesNothingWhenTheProgramIsKilled) {
  const Traced traced = trace({fake("cublas_user13"), "kill"});
  EXPECT_EQ(traced.finished.exit_code, 128 + 9);
  EXPECT_THAT(traced.list, HasSubstr("3 calls"));
}

TEST(RunTrace, LosesNothingWhereItsListCannotBeWritten) {
  Launch launch;
  launch.arguments = {"run", "--trace", "/nonexistent/list", "--", "echo", "ran"};
  const Finished early = run(launch);
  EXPECT_EQ(early.exit_code, 3);
  EXPECT_EQ(early.out, "") << "the program did not run";
  launch.arguments = {"run", "--trace", "/dev/full", "--", fake("cublas_user13"), "kill"};
  launch.environment["PATH"] = "/usr/bin:/bin";
  const Finished late = run(launch);
  EXPECT_EQ(late.exit_code, 3);
  EXPECT_THAT(late.out, HasSubstr("3 calls"));
}

TEST(RunTrace, LeavesProgramsAloneThatItCannotRecordAndSaysSo) {
  Launch launch;
  launch.arguments = {"run", "--trace", "-", "--", fake("cublas_user13"), "children"};
  launch.environment["PATH"] = "/usr/bin:/bin";
  launch.file_size_limit = 1 << 20;
  const Finished finished = run(launch);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_THAT(finished.out, HasSubstr("13 cublas")) << "it ran to its end";
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("Not recorded, and not served"), HasSubstr("Set TMPDIR"), Not(HasSubstr("No call"))));
}

TEST(RunTrace, IsOneOfThreeWaysToRun) {
  for (const std::vector<std::string>& ways :
       {std::vector<std::string>{}, {"--serve", "--compare"}, {"--trace", "list", "--serve"}}) {
    Launch launch;
    launch.arguments = {"run"};
    launch.arguments.insert(launch.arguments.end(), ways.begin(), ways.end());
    launch.arguments.insert(launch.arguments.end(), {"--", "true"});
    const Finished finished = run(launch);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("give one of --trace FILE, --serve and --compare"));
  }
}

TEST(RunTrace, CountsWhatItCannotRecord) {
  const std::string list = trace({fake("cublas_user13"), "many"}, {}, "3").list;
  EXPECT_THAT(list, AllOf(HasSubstr("calls of more problems than a process can record"), HasSubstr(" values of M, ")));
}

TEST(RunTrace, ReturnsTheProgramsExitCode) {
  EXPECT_EQ(trace({fake("cublas_user13"), "exit"}).finished.exit_code, 7);
  EXPECT_EQ(trace({"sh", "-c", "exit 3"}).finished.exit_code, 3);
  const Finished none = trace({"/no/such/program"}).finished;
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("cannot run '/no/such/program'"));
  Launch without_program;
  without_program.arguments = {"run", "--trace", "list"};
  EXPECT_EQ(run(without_program).exit_code, 2);
}

TEST(RunTrace, CanBeSwitchedOff) {
  const support::ScratchFolder folder;
  const std::string list = (folder / "list").string();
  ASSERT_TRUE(write_file_atomically(list, "kept"));
  Launch launch;
  launch.environment = {{"PATH", "/usr/bin:/bin"}, {"PGTUNE_RUN", "off"}};
  launch.arguments = {"run", "--trace", list, "--", fake("cublas_user13"), "sgemm"};
  const Finished finished = run(launch);
  EXPECT_EQ(finished.out, "13 cublasSgemm_v2, none\n");
  EXPECT_THAT(finished.err, HasSubstr("PGTUNE_RUN=off: nothing is recorded"));
  EXPECT_EQ(read_file(list).value_or(""), "kept");
}

TEST(RunTrace, WritesItsListToStandardOutput) {
  Launch launch;
  launch.environment = {{"PATH", "/usr/bin:/bin"}};
  launch.arguments = {"run", "--trace", "-", "--", fake("cublas_user13"), "sgemm"};
  EXPECT_THAT(run(launch).out, AllOf(HasSubstr("13 cublasSgemm_v2, none\n# GEMMs"), HasSubstr("32x64x16 f32 nn")));
}

TEST(RunTrace, LoadsBeforeOtherPreloadedLibraries) {
  const Traced traced = trace({"sh", "-c", "echo $LD_PRELOAD"}, {{"LD_PRELOAD", "libm.so.6"}});
  EXPECT_EQ(traced.finished.out, PGTUNE_PRELOAD_LIBRARY ":libm.so.6\n");
}

TEST(RunTrace, WorksFromAFolderWithABlankInItsName) {
  const support::ScratchFolder folder("pgtune run ");
  std::filesystem::copy(PGTUNE_PROGRAM, folder / "pgtune");
  std::filesystem::copy(PGTUNE_PRELOAD_LIBRARY, folder / "libpgtune_preload.so");
  const std::string program = (folder / "pgtune").string(), list = (folder / "list").string();
  Launch launch;
  launch.program = program.c_str();
  launch.arguments = {"run", "--trace", list, "--", fake("cublas_user13"), "sgemm"};
  EXPECT_EQ(run(launch).out, "13 cublasSgemm_v2, none\n");
  EXPECT_THAT(read_file(list).value_or(""), HasSubstr("32x64x16 f32 nn"));
}

TEST(PreloadLibrary, NeedsTheCLibraryAlone) {
  std::string needed, names;
  const auto output = [](const std::string& command) {
    std::string out;
    char line[256];
    FILE* const pipe = popen(command.c_str(), "r");
    while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) out += line;
    if (pipe != nullptr) pclose(pipe);
    return out;
  };
  EXPECT_EQ(output("readelf -d '" PGTUNE_PRELOAD_LIBRARY "' | grep NEEDED | grep -v 'libc[.]so\\|libdl[.]so'"), "");
  // It defines functions of cuBLAS and of CUDA's runtime and its own node; of the C library it uses what is listed.
  EXPECT_EQ(
      output("nm -D '" PGTUNE_PRELOAD_LIBRARY
             "' | sed 's/^[0-9a-f ]*//' | grep -v '^T cu[A-Za-z0-9_]*@libcu[A-Za-z]*[.]so[.]1[23]$' | "
             "grep -v '^w ' | sed 's/@GLIBC.*//' | sort | tr '\\n' ' '"),
      "A libcublas.so.12 A libcublas.so.13 A libcublasLt.so.12 A libcublasLt.so.13 A libcudart.so.12 A libcudart.so.13 "
      "A pgtune_preload U __cxa_atexit U __environ U __register_atfork U access U close U dl_iterate_phdr U dlerror "
      "U dlopen U dlsym U environ U fstat U getenv U getpid U getrlimit U memcmp U mmap U munmap U open U "
      "posix_fallocate "
      "U sched_yield U snprintf U strcmp U strdup U strlen U strncmp U strrchr U strstr U strtol U strtoul U write ");
}

}  // namespace
}  // namespace pgtune::tool::test
