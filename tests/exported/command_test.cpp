// SPDX-License-Identifier: MIT
// `pgtune export header` with the real compiler: a recording becomes a header that compiles and is called.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/exported/sample_export.hpp"

namespace pgtune::tool::test {
namespace {

const std::string kRecording = PGTUNE_SOURCE_DIR "/recordings/h200-bf16-settled.db.zst";

std::string export_command(const std::string& cache, const std::string& more) {
  return fmt::format("XDG_CACHE_HOME={} HOME=$PWD '{}' export header --db '{}' {}", cache, PGTUNE_PROGRAM, kRecording,
                     more);
}

TEST(ExportCommand, ARecordingBecomesTheSameHeaderFromAnyCache) {
  const ExportFolder folder("");
  std::string output;
  ASSERT_EQ(folder.run(export_command(shared_cache(), "-o best_gemm.hpp"), &output), 0) << output;
  EXPECT_THAT(output, testing::HasSubstr("wrote best_gemm.hpp with 2 entries"));
  ASSERT_EQ(folder.run(export_command("$PWD/two", "-o again/best_gemm.hpp"), &output), 3) << "the folder is not there";
  ASSERT_EQ(folder.run("mkdir again && " + export_command("$PWD/two", "-o again/best_gemm.hpp"), &output), 0) << output;
  EXPECT_EQ(folder.run("cmp best_gemm.hpp again/best_gemm.hpp", &output), 0) << output;
  folder.write("consumer.cpp",
               "#include \"best_gemm.hpp\"\n#include <cstdio>\nusing namespace best_gemm;\n"
               "int main() {\n  int count = 0;\n  const Entry& e = entries(&count)[0];\n  Gemm gemm;\n"
               "  if (count != 2 || Gemm::prepare(0) != Status::ok) return 1;\n"
               "  if (Gemm::select(e.problem, {}, 0, {}, gemm) != Status::ok) return 2;\n"
               "  return gemm.choice().match == Match::exact ? 0 : 3;\n}\n");
  ASSERT_TRUE(folder.compile("c++ -std=c++17 -O1", "consumer.cpp", "consumer"));
  EXPECT_EQ(folder.run("LD_LIBRARY_PATH='" PGTUNE_FAKE_CUDA_FOLDER "' ./consumer"), 0);
}

TEST(ExportCommand, SplitsTheKernelsFromTheHeader) {
  const ExportFolder folder("");
  std::string output;
  ASSERT_EQ(folder.run(export_command(shared_cache(), "--split -o best_gemm.hpp"), &output), 0) << output;
  EXPECT_GT(std::filesystem::file_size(folder.path() / "best_gemm.cpp"), 20'000U);
  folder.write("consumer.cpp",
               "#include \"best_gemm.hpp\"\nint main() { return best_gemm::Gemm::prepare(0) == "
               "best_gemm::Status::ok ? 0 : 1; }\n");
  ASSERT_TRUE(folder.compile("c++ -std=c++17", "consumer.cpp best_gemm.cpp", "consumer"));
  EXPECT_EQ(folder.run("LD_LIBRARY_PATH='" PGTUNE_FAKE_CUDA_FOLDER "' ./consumer"), 0);
}

TEST(ExportCommand, WritesAPackageAndSaysHowItIsFound) {
  const ExportFolder folder("");
  std::string output;
  ASSERT_EQ(folder.run(export_command(shared_cache(), "--namespace my::gemm --library package"), &output), 0) << output;
  EXPECT_THAT(output, testing::HasSubstr("find_package(my_gemm CONFIG) gives my_gemm::my_gemm"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "package/lib/cmake/my_gemm/my_gemmConfig.cmake"));
  folder.write("file", "");
  EXPECT_EQ(folder.run(export_command(shared_cache(), "--library file/package"), &output), 3);
  EXPECT_THAT(output, testing::HasSubstr("cannot make the folder"));
}

TEST(ExportCommand, OptionsThatCannotWorkAreRefused) {
  const ExportFolder folder("");
  for (const char* options :
       {"--library x -o y", "--library x --split", "--library x --coverage y", "--split", "--split -o -",
        "--split -o x.cpp", "--json -o x.hpp", "-o 'x\".hpp'", "--split -o 'x\\.hpp'"}) {
    std::string output;
    EXPECT_EQ(folder.run(export_command(shared_cache(), options), &output), 2) << options << output;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.hpp") || std::filesystem::exists(folder.path() / "x"));
}

TEST(ExportCommand, FamiliesServeEveryMOfTheirRange) {
  const ExportFolder folder("");
  write_families((folder.path() / "families.db").string());
  const std::string program = fmt::format("XDG_CACHE_HOME={} HOME=$PWD '{}' ", shared_cache(), PGTUNE_PROGRAM);
  std::string output;
  ASSERT_EQ(folder.run(program + "export header --db families.db -o best_gemm.hpp", &output), 0) << output;
  EXPECT_THAT(output, testing::HasSubstr("wrote best_gemm.hpp with 0 entries and 2 families"));
  folder.write(
      "consumer.cpp",
      "#include \"best_gemm.hpp\"\n#include <cstring>\nusing namespace best_gemm;\n"
      "int main() {\n  int count = 0;\n  families(&count);\n  Gemm gemm;\n"
      "  if (count != 2 || Gemm::prepare(0) != Status::ok) return 1;\n"
      "  Problem p{Type::bf16, Layout::nt, 0, 1536, 768};\n  Policy same;\n  same.batch_invariant = true;\n"
      "  for (p.m = 1; p.m <= 513; ++p.m) {\n"
      "    const bool served = p.m <= 512;\n"
      "    if ((Gemm::select(p, {}, 0, {}, gemm) == Status::ok) != served) return 2;\n"
      "    if (served && gemm.choice().match != Match::family) return 3;\n"
      "    if ((Gemm::select(p, {}, 0, same, gemm) == Status::ok) != served) return 4;\n"
      "    if (served && std::strcmp(variants(&count)[gemm.choice().variant].sum_order, \"plain\") != 0) return 5;\n"
      "  }\n  return 0;\n}\n");
  ASSERT_TRUE(folder.compile("c++ -std=c++17 -O1", "consumer.cpp", "consumer"));
  EXPECT_EQ(folder.run("LD_LIBRARY_PATH='" PGTUNE_FAKE_CUDA_FOLDER "' ./consumer"), 0);

  folder.write("shapes.txt", "100x1536x768 bf16 nt\n513x1536x768 bf16 nt\n");
  ASSERT_EQ(folder.run(program + "export header --db families.db --coverage shapes.txt", &output), 0) << output;
  EXPECT_THAT(output, testing::HasSubstr("family"));
  EXPECT_THAT(output, testing::HasSubstr("1..512x1536x768 bf16 nt"));
  EXPECT_THAT(output, testing::HasSubstr("fallback"));
  ASSERT_EQ(
      folder.run(program + "export header --db families.db --dtype bf16 --layout nt --shape 600x1536x768 -o x.hpp",
                 &output),
      1)
      << output;

  ASSERT_EQ(folder.run(program +
                           "guess --db families.db --dtype bf16 --layout nt --shape 100x1536x768 --device "
                           "'recording:" +
                           kRecording + "'",
                       &output),
            0)
      << output;
  EXPECT_THAT(output, testing::HasSubstr("1..512x1536x768 bf16 nt"));
  EXPECT_THAT(output, testing::HasSubstr("% at most, at 1 M that were measured"));
}

TEST(ExportCommand, AFamilyWhoseKernelsChangedTheirOrderIsLeftOut) {
  const ExportFolder folder("");
  write_families((folder.path() / "families.db").string(), "chain");
  std::string output;
  ASSERT_EQ(folder.run(fmt::format("XDG_CACHE_HOME={} HOME=$PWD '{}' export header --db families.db -o best_gemm.hpp",
                                   shared_cache(), PGTUNE_PROGRAM),
                       &output),
            0)
      << output;
  EXPECT_THAT(output, testing::HasSubstr("no longer adds in the family's order (chain)"));
  EXPECT_THAT(output, testing::HasSubstr("0 entries and 1 family"));

  folder.write("model.txt", "3..513x1536x768 bf16 nt\n");
  ASSERT_EQ(folder.run(fmt::format("XDG_CACHE_HOME={} HOME=$PWD '{}' export header --db families.db --coverage "
                                   "model.txt --json",
                                   shared_cache(), PGTUNE_PROGRAM),
                       &output),
            0)
      << output;
  std::vector<std::int64_t> rows;
  const auto document = nlohmann::json::parse(output.substr(output.find("\n{") + 1));
  for (const auto& row : document.at("device_classes").at(0).at("problems")) {
    rows.push_back(row.at("problem").at("m"));
    EXPECT_EQ(row.at("served"), rows.back() <= 512 ? "family" : "fallback") << rows.back();
  }
  EXPECT_THAT(rows, testing::ElementsAre(3, 4, 8, 16, 32, 64, 128, 256, 512, 513));
}

/// A program that keeps the first kilobyte of a kernel stands for fatbinary, which not every toolkit has.
TEST(ExportCommand, KernelsAreCompressedWhereThereIsAFatbinary) {
  const ExportFolder folder("");
  folder.write(
      "fatbinary",
      "#!/bin/sh\n"
      "for option; do case $option in --create=*) out=${option#--create=} ;; --image3=*) in=${option##*file=} ;; "
      "esac; done\n"
      "head -c 1024 \"$in\" >\"$out\"\n");
  std::string output;
  ASSERT_EQ(folder.run("chmod +x fatbinary && PGTUNE_FATBINARY=$PWD/fatbinary " +
                           export_command(shared_cache(), "-o small.hpp"),
                       &output),
            0)
      << output;
  ASSERT_EQ(folder.run("PGTUNE_FATBINARY=/nowhere " + export_command(shared_cache(), "-o large.hpp"), &output), 0)
      << output;
  EXPECT_GT(std::filesystem::file_size(folder.path() / "large.hpp"),
            std::filesystem::file_size(folder.path() / "small.hpp"));
}

/// Searched with a worker that measures nothing, compiled by the real one.
TEST(ExportCommand, AnOperationBecomesAHeaderNamedAfterIt) {
  const ExportFolder folder("");
  const std::string program = fmt::format("XDG_CACHE_HOME={} HOME=$PWD PGTUNE_LOCK_DIR=$PWD ", shared_cache());
  const std::string search =
      program + "PGTUNE_WORKER='" PGTUNE_FAKE_WORKER "' '" PGTUNE_PROGRAM
                "' search --db operations.db --operation {} --size {} {} --strategy guided --variants 3 -q";
  std::string output;
  ASSERT_EQ(folder.run(fmt::format(fmt::runtime(search), "softmax", "M=64,N=1024", "--dtype bf16"), &output), 0)
      << output;
  const std::string own = PGTUNE_SOURCE_DIR "/examples/operations/reduction/reduction.json";
  ASSERT_EQ(folder.run(fmt::format(fmt::runtime(search), own, "N=65536", ""), &output), 0) << output;
  const std::string header = program + "'" PGTUNE_PROGRAM "' export header --db operations.db ";
  ASSERT_EQ(folder.run(header + "-o all.hpp", &output), 0) << output;
  EXPECT_THAT(output, testing::AllOf(testing::HasSubstr("left out reduction N=65536: the operation reduction is not "
                                                        "built in"),
                                     testing::HasSubstr("wrote all.hpp with 1 entry")));
  ASSERT_EQ(folder.run(header + "--operation '" + own + "' -o best_reduction.hpp", &output), 0) << output;
  ASSERT_EQ(folder.run(header + "--operation softmax --jit -o best_softmax.hpp", &output), 0) << output;
  folder.write("consumer.cpp",
               "#include \"best_reduction.hpp\"\n#include \"best_softmax.hpp\"\n"
               "int main() {\n  best_reduction::reduction sum;\n"
               "  if (best_reduction::prepare(0) != best_reduction::Status::ok) return 1;\n"
               "  if (best_reduction::reduction::select({65536}, {}, 0, {best_reduction::Match::other_device}, sum) "
               "!=\n      best_reduction::Status::ok) return 2;\n"
               "  best_softmax::softmax_bf16 softmax;\n"
               "  return best_softmax::softmax_bf16::select({64, 1024}, {}, 0, {}, softmax) ==\n"
               "                 best_softmax::Status::not_prepared ? 0 : 3;\n}\n");
  ASSERT_TRUE(folder.compile("c++ -std=c++17", "consumer.cpp", "consumer"));
  EXPECT_EQ(folder.run("LD_LIBRARY_PATH='" PGTUNE_FAKE_CUDA_FOLDER "' ./consumer", &output), 0) << output;
}

/// Three tensor maps, one of them of scales, and a cluster where the tile is split: what no other operation's export
/// has.
TEST(ExportCommand, AWinnerOfHoppersTemplateOfAnOperationIsCalledWithItsTensorMaps) {
  const ExportFolder folder("");
  const std::string program = fmt::format("XDG_CACHE_HOME={} HOME=$PWD PGTUNE_LOCK_DIR=$PWD ", shared_cache());
  std::string output;
  ASSERT_EQ(folder.run(program + "PGTUNE_WORKER='" PGTUNE_FAKE_WORKER "' '" PGTUNE_PROGRAM
                                 "' search --db operations.db --operation gemm_block_scaled --size M=64,N=256,K=512 "
                                 "--template gemm_block_scaled_wgmma --strategy guided --variants 3 -q",
                       &output),
            0)
      << output;
  ASSERT_EQ(folder.run(program + "'" PGTUNE_PROGRAM "' export header --db operations.db -o best.hpp", &output), 0)
      << output;
  folder.write("consumer.cpp", R"(#include "best.hpp"
#include "tests/exported/programs/check.hpp"
using namespace best_gemm_block_scaled;
int main() {
  gemm_block_scaled_e4m3 call;
  gemm_block_scaled_e4m3::Operands o;
  o.A = static_cast<const __nv_fp8_e4m3*>(at(0x10000000)), o.SA = static_cast<const float*>(at(0x20000000));
  o.B = static_cast<const __nv_fp8_e4m3*>(at(0x30000000)), o.SB = static_cast<const float*>(at(0x40000000));
  o.D = static_cast<__nv_bfloat16*>(at(0x50000000));
  CHECK(prepare(0) == Status::ok);
  CHECK(gemm_block_scaled_e4m3::select({64, 256, 512}, o, 0, {Match::other_device}, call) == Status::ok);
  fake().signatures["grouped_wgmma"] = "mmpiiimpmi";
  CHECK(call.run(o, nullptr, 0, stream_of<CUstream>(0)) == Status::ok);
  CHECK(fake().launches == 1);
  const std::string launch = fake().log.back();
  for (const char* part : {"map(0x10000000 type 0 dims 512,64,1 ", "map(0x20000000 type 7 dims 64,4,1 ",
                           "map(0x30000000 type 0 dims 512,256,1 ", " 0x40000000 ", " 0x50000000 256 4 64 "})
    CHECK(launch.find(part) != std::string::npos);
  if (failures > 0) std::puts(launch.c_str());
  return failures > 0 ? 1 : 0;
}
)");
  ASSERT_TRUE(folder.compile("c++ -std=c++17", "consumer.cpp", "consumer"));
  EXPECT_EQ(folder.run("LD_LIBRARY_PATH='" PGTUNE_FAKE_CUDA_FOLDER "' ./consumer", &output), 0) << output;
}

}  // namespace
}  // namespace pgtune::tool::test
