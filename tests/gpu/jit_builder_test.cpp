// SPDX-License-Identifier: MIT
// Builds with the real NVRTC: what is stored, found again, refused and why. Needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kScale =
    "extern \"C\" __global__ void scale(float* x) {\n"
    "  __shared__ float tile[BM];\n"
    "  tile[threadIdx.x] = x[threadIdx.x];\n"
    "  __syncthreads();\n"
    "  x[threadIdx.x] = tile[BM - 1 - threadIdx.x];\n"
    "}\n";

protocol::BuildRequest request_of(std::string source, std::vector<Define> defines = {},
                                  std::vector<SourceFile> headers = {}) {
  protocol::BuildRequest request;
  request.id = 7;
  request.variant = {"scale", {{"BM", std::int64_t{64}}}};
  request.source = std::make_shared<TemplateSource>(TemplateSource{"scale.cu", std::move(source), std::move(headers)});
  request.defines = std::move(defines);
  request.architecture = "sm_90a";
  return request;
}

class BuilderTest : public testing::Test {
 protected:
  [[nodiscard]] Result<protocol::BuildDone> build(const protocol::BuildRequest& request) const {
    return builder_.build(request);
  }
  protocol::BuildDone must_build(const protocol::BuildRequest& request) const {
    auto done = builder_.build(request);
    if (!done) {
      ADD_FAILURE() << done.error().text();
      return {};
    }
    EXPECT_EQ(done->outcome.kind, OutcomeKind::kOk) << done->outcome.reason;
    return *done;
  }
  [[nodiscard]] std::string failure_of(const protocol::BuildRequest& request) const {
    const auto done = builder_.build(request);
    if (!done) return "error: " + done.error().text();
    EXPECT_EQ(done->outcome.kind, OutcomeKind::kCompileFailed);
    EXPECT_EQ(done->build, BuildInfo{});
    return done->outcome.reason;
  }

  const TestFolder folder_;
  const Builder builder_{CubinCache::open(folder_.path()).value(), find_toolkit().value()};
};

TEST_F(BuilderTest, GivesACubinAndItsResources) {
  const auto done = must_build(request_of(kScale, {{"BM", "64"}}));
  EXPECT_EQ(done.id, 7);
  EXPECT_GT(done.build.registers, 0);
  EXPECT_EQ(done.build.static_smem_bytes, 256);
  EXPECT_EQ(done.build.local_bytes, 0);
  EXPECT_EQ(done.build.spill_bytes, 0);
  EXPECT_GT(done.build.compile_s, 0);
  EXPECT_FALSE(done.build.cached);
  const auto cubin = read_file(done.build.cubin_path);
  ASSERT_TRUE(cubin);
  EXPECT_THAT(*cubin, StartsWith("\x7f"
                                 "ELF"));
}

TEST_F(BuilderTest, SecondBuildComesFromTheCache) {
  const auto first = must_build(request_of(kScale, {{"BM", "64"}}));
  const auto second = must_build(request_of(kScale, {{"BM", "64"}}));
  BuildInfo expected = first.build;
  expected.cached = true;
  EXPECT_EQ(second.build, expected);
}

TEST_F(BuilderTest, AModuleOfItsOwnIsBuiltOnceForAllThatShareIt) {
  auto request = request_of(
      "#ifndef PGTUNE_SEPARATE_MODULES\n#include \"fill.cuh\"\n#endif\n"
      "extern \"C\" __global__ void add(float* x) { *x += BM; }\n",
      {{"BM", "1"}, {"VALUE", "3"}}, {{"fill.cuh", "extern \"C\" __global__ void fill(float* x) { *x = VALUE; }\n"}});
  request.calls = {{"fill", {{"pointer", 8}}}, {"add", {{"pointer", 8}}}};
  const auto whole = must_build(request);
  EXPECT_TRUE(whole.build.modules.empty());

  request.modules = {{"fill", "fill.cuh", {{"VALUE", "3"}}}};
  const auto first = must_build(request);
  request.defines[0].value = "2";
  const auto second = must_build(request);
  ASSERT_EQ(first.build.modules.size(), 1U);
  EXPECT_EQ(first.build.modules, second.build.modules);
  EXPECT_FALSE(second.build.cached) << "its own kernel";
  EXPECT_NE(first.build.cubin_path, second.build.cubin_path);
  EXPECT_NE(first.build.cubin_path, whole.build.cubin_path);
  EXPECT_TRUE(must_build(request).build.cached);

  request.modules.front().defines.clear();
  EXPECT_THAT(failure_of(request), HasSubstr("VALUE")) << "it reads what it was not given";
}

TEST_F(BuilderTest, WhateverChangesTheCubinChangesTheKey) {
  auto base = request_of("#include \"value.cuh\"\nextern \"C\" __global__ void f(int* p) { *p = VALUE + BM; }",
                         {{"BM", "1"}, {"BN", "2"}}, {{"value.cuh", "#define VALUE 1\n"}});
  std::vector<protocol::BuildRequest> requests(6, base);
  requests[1].defines = {{"BM", "2"}, {"BN", "2"}};
  requests[2].defines = {{"BN", "2"}, {"BM", "1"}};
  requests[3].architecture = "sm_80";
  requests[4].source = std::make_shared<TemplateSource>(
      TemplateSource{"scale.cu", base.source->contents, {{"value.cuh", "#define VALUE 2\n"}}});
  requests[5].source =
      std::make_shared<TemplateSource>(TemplateSource{"scale.cu", base.source->contents + "\n", base.source->headers});
  std::vector<std::string> keys;
  for (const auto& request : requests) keys.push_back(must_build(request).build.key_hash);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

TEST_F(BuilderTest, ReportsSpillsAndLocalMemory) {
  const auto done =
      must_build(request_of("extern \"C\" __global__ void __launch_bounds__(1024) f(float* p) {\n"
                            "  float a[128];\n"
                            "#pragma unroll\n"
                            "  for (int i = 0; i < 128; i++) a[i] = p[i * 1024 + threadIdx.x];\n"
                            "  __syncthreads();\n"
                            "#pragma unroll\n"
                            "  for (int i = 0; i < 128; i++) p[i * 37] = a[i] * a[127 - i];\n"
                            "}\n"
                            "extern \"C\" __global__ void g(float* p, int n) {\n"
                            "  float a[200];\n"
                            "  for (int i = 0; i < 200; i++) a[i] = p[i * n];\n"
                            "  p[0] = a[n];\n"
                            "}\n"));
  EXPECT_GT(done.build.spill_bytes, 0);
  EXPECT_GE(done.build.local_bytes, 800) << "the largest over the kernels counts";
}

TEST_F(BuilderTest, HeadersComeFromMemoryAndMayIncludeEachOther) {
  must_build(
      request_of("#include \"device/a.cuh\"\nextern \"C\" __global__ void f(int* p) { *p = A + B; }", {},
                 {{"device/a.cuh", "#include \"device/b.cuh\"\n#define A 1\n"}, {"device/b.cuh", "#define B 2\n"}}));
}

TEST_F(BuilderTest, ToolkitHeadersAreFound) {
  ASSERT_FALSE(builder_.toolkit().include_folders.empty());
  must_build(
      request_of("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                 "extern \"C\" __global__ void f(__half* p) { *p = __hadd(*p, *p); }"));
}

TEST_F(BuilderTest, ErrorsNameFileAndLine) {
  EXPECT_THAT(failure_of(request_of("\n\nextern \"C\" __global__ void f(int* p) { *p = BM; }")),
              StartsWith("scale.cu(3): error: identifier \"BM\" is undefined"));
  EXPECT_THAT(failure_of(request_of("extern \"C\" __global__ void f() { asm volatile(\"nonsense.u32;\"); }")),
              HasSubstr("error"));
  EXPECT_THAT(failure_of(request_of("#include \"missing.cuh\"\n")), HasSubstr("missing.cuh"));
}

TEST_F(BuilderTest, ALabelThatNoParameterHasIsSaidToBeOneInSourceAndHeader) {
  const std::vector<Define> defines{{"READ", "LABEL_plain"}, {"LABEL_plain", "11"}, {"LABEL_nc", "12"}};
  const std::string reason =
      "(2): the template's source uses LABEL_cg, which none of its parameters has as a value; the labels there are: "
      "plain, nc";
  const std::string function = "\n__device__ bool cached() { return READ == LABEL_cg; }\n";
  EXPECT_EQ(failure_of(request_of(function, defines)), "scale.cu" + reason);
  EXPECT_EQ(failure_of(request_of("#include \"read.cuh\"\n", defines, {{"read.cuh", function}})), "read.cuh" + reason);
  EXPECT_THAT(failure_of(request_of(function, {{"READ", "1"}})), HasSubstr("the labels there are: none"));
}

TEST_F(BuilderTest, FailuresAreNotCached) {
  const auto bad = request_of("static_assert(BM == 1, \"BM must be one\");", {{"BM", "2"}});
  EXPECT_THAT(failure_of(bad), HasSubstr("BM must be one"));
  EXPECT_THAT(failure_of(bad), HasSubstr("BM must be one"));
}

TEST_F(BuilderTest, ErrorsOfPtxasAloneAreReasonsToo) {
  EXPECT_THAT(failure_of(request_of("extern \"C\" __global__ void f(float* p, int n) {\n"
                                    "  __shared__ float x[100000];\n  x[n] = p[n];\n  p[0] = x[n + 1];\n}")),
              StartsWith("ptxas error   : Entry function 'f' uses too much shared data"));
}

TEST_F(BuilderTest, NamesThatCollideWithCudasHeadersAreExplained) {
  EXPECT_THAT(failure_of(request_of(kScale, {{"BM", "64"}, {"x", "1"}})), HasSubstr("rename it"));
}

TEST_F(BuilderTest, SerialisedWgmmaIsAFailure) {
  // Two dependent wgmmas with an ordinary write to the accumulator between them, inside one open stage.
  const std::string wgmma =
      "asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;\" "
      ": \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"l\"(a), \"l\"(b));\n";
  EXPECT_THAT(
      failure_of(request_of("extern \"C\" __global__ void f(float* p, unsigned long long a, unsigned long long b) {\n"
                            "float d[4] = {};\n"
                            "asm volatile(\"wgmma.fence.sync.aligned;\");\n" +
                            wgmma + "d[0] = d[1] * 2.0f;\n" + wgmma +
                            "asm volatile(\"wgmma.commit_group.sync.aligned;\");\n"
                            "asm volatile(\"wgmma.wait_group.sync.aligned 0;\");\n"
                            "for (int i = 0; i < 4; i++) p[threadIdx.x * 4 + i] = d[i];\n}\n")),
      HasSubstr("wgmma.mma_async instructions are serialized"));
}

TEST_F(BuilderTest, UnknownArchitectureIsTheEnvironmentsFault) {
  auto request = request_of(kScale, {{"BM", "64"}});
  request.architecture = "sm_9999";
  const auto done = build(request);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(done.error().message, HasSubstr("sm_9999"));
  EXPECT_THAT(done.error().message, HasSubstr("newer CUDA Toolkit"));
}

TEST_F(BuilderTest, UnwritableCacheIsTheEnvironmentsFault) {
  std::filesystem::remove_all(folder_.path() / "cubin");
  ASSERT_TRUE(write_file_atomically(folder_.path() / "cubin", "in the way"));
  const auto done = build(request_of(kScale, {{"BM", "64"}}));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(done.error().message, HasSubstr("PGTUNE_CACHE_DIR"));
}

/// What a template may get wrong about a kernel, each with what pgtune says of it.
struct WrongCall {
  std::string name, source, symbol;
  std::vector<std::string> arguments;
  std::string said;  ///< empty: it is right
};

class CalledKernels : public BuilderTest, public testing::WithParamInterface<WrongCall> {
 protected:
  static std::vector<PassedArgument> passed(const std::vector<std::string>& kinds) {
    std::vector<PassedArgument> out;
    for (const std::string& kind : kinds) {
      const bool four = kind == "int32" || kind == "float32";
      out.push_back({kind, four ? 4 : (kind == "tensor_map" ? 128 : 8)});
    }
    return out;
  }
};

constexpr const char* kTaking =
    "struct alignas(64) Map { char bytes[128]; };\n"
    "struct Large { int values[3000]; };\n"
    "extern \"C\" __global__ void f(float* x, int n, long long pitch, float alpha) { x[n + pitch] = alpha; }\n"
    "extern \"C\" __global__ void g(const __grid_constant__ Map map, double d) {}\n"
    "extern \"C\" __global__ void large(const Large large, int* x, int n) { *x = large.values[n]; }\n"
    "extern \"C\" __global__ void none() {}\n"
    "__global__ void mangled(int* x) { *x = 1; }\n"
    "namespace a { template <int N, typename T> __global__ void scale(T* x, long long n) { x[n] = N; } }\n";

INSTANTIATE_TEST_SUITE_P(
    Of, CalledKernels,
    testing::Values(
        WrongCall{"Right", kTaking, "f", {"pointer", "int32", "int64", "float32"}, ""},
        WrongCall{"Maps", kTaking, "g", {"tensor_map", "pointer"}, ""},
        WrongCall{"LargeParametersOfTheSourceAlone",
                  kTaking,
                  "large",
                  {"pointer", "pointer", "int32"},
                  "kernel 'large': argument 1 (pointer) is 8 bytes, the kernel's parameter 1 has 12000"},
        WrongCall{"NoParameters", kTaking, "none", {}, ""},
        WrongCall{"Expression", kTaking, "a::scale<BM, float>", {"pointer", "int64"}, ""},
        WrongCall{"OtherSymbol",
                  kTaking,
                  "h",
                  {},
                  "the source has no kernel 'h'; its kernels: mangled(int*), none, large, g, f"},
        WrongCall{"NotExternC",
                  kTaking,
                  "mangled",
                  {"pointer"},
                  "kernel 'mangled' is not extern \"C\" in the source, where it is mangled(int*)"},
        WrongCall{"TooFew",
                  kTaking,
                  "f",
                  {"pointer", "int32", "int64"},
                  "kernel 'f' has 4 parameters, and is passed 3 arguments"},
        WrongCall{"TooMany", kTaking, "none", {"int32"}, "kernel 'none' has 0 parameters, and is passed 1 argument"},
        WrongCall{"Narrow",
                  kTaking,
                  "f",
                  {"pointer", "int32", "int32", "float32"},
                  "kernel 'f': argument 3 (int32) is 4 bytes, the kernel's parameter 3 has 8"},
        WrongCall{"Wide",
                  kTaking,
                  "f",
                  {"pointer", "int64", "int64", "float32"},
                  "kernel 'f': argument 2 (int64) is 8 bytes, the kernel's parameter 2 has 4"},
        WrongCall{"FloatForDouble",
                  kTaking,
                  "g",
                  {"tensor_map", "float32"},
                  "kernel 'g': argument 2 (float32) is 4 bytes, the kernel's parameter 2 has 8"},
        WrongCall{"ExpressionNarrow",
                  kTaking,
                  "a::scale<BM, float>",
                  {"pointer", "int32"},
                  "kernel 'a::scale<BM, float>': argument 2 (int32) is 4 bytes, the kernel's parameter 2 has 8"}),
    [](const auto& one) { return one.param.name; });

TEST_P(CalledKernels, AreComparedWithWhatTheBuildHas) {
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a"}) {
    auto request = request_of(GetParam().source, {{"BM", "64"}});
    request.architecture = architecture;
    request.calls = {{GetParam().symbol, passed(GetParam().arguments)}};
    for (const char* place : {"compiled", "from the cache"}) {
      SCOPED_TRACE(std::string(architecture) + ", " + place);
      if (GetParam().said.empty()) {
        must_build(request);
      } else {
        EXPECT_EQ(failure_of(request), GetParam().said);
      }
    }
  }
}

TEST_F(BuilderTest, SaysWhatTheCubinCallsAnExpression) {
  auto request = request_of(kTaking, {{"BM", "64"}});
  request.calls = {{"a::scale<BM, float>", {{"pointer", 8}, {"int64", 8}}}};
  for (const bool cached : {false, true}) {
    const BuildInfo build = must_build(request).build;
    EXPECT_EQ(build.cached, cached);
    EXPECT_EQ(build.symbol_of("a::scale<BM, float>"), "_ZN1a5scaleILi64EfEEvPT0_x");
    EXPECT_EQ(build.symbol_of("f"), "f");
  }
  request.calls = {{"a::scale<BN, float>", {}}};
  EXPECT_THAT(failure_of(request), HasSubstr("identifier \"BN\" is undefined"));
}

TEST_F(BuilderTest, NothingOfTheWorkingFolderIsIncluded) {
  const auto before = std::filesystem::current_path();
  ASSERT_TRUE(write_file_atomically(folder_.path() / "value.cuh", "#define VALUE 1\n"));
  std::filesystem::current_path(folder_.path());
  const std::string said =
      failure_of(request_of("#include \"value.cuh\"\nextern \"C\" __global__ void f(int* p) { *p = VALUE; }"));
  std::filesystem::current_path(before);
  EXPECT_THAT(said, StartsWith("scale.cu(1): catastrophic error: cannot open source file \"value.cuh\""));
}

TEST_F(BuilderTest, HeadersOfTheToolkitFindWhatLiesBesideThem) {
  for (const char* header : {"cooperative_groups.h", "cooperative_groups/reduce.h", "mma.h", "cuda_fp16.h"})
    must_build(request_of(std::string("#include <") + header + ">\n" + kScale, {{"BM", "64"}}));
}

}  // namespace
}  // namespace pgtune::gpu
