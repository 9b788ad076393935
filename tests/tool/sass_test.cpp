// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/sass.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace pgtune::tool {
namespace {

constexpr const char* kText = R"(
	.section	.nv.info,"",@"SHT_CUDA_INFO"
        /*0030*/ 	.string	"a ; b"
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/              @!P0 LDG.E.64 R8, desc[UR4][R2.64] ;
        /*0030*/                   LDGSTS.E.BYPASS.LTC128B.128 [R5], desc[UR6][R2.64], P0 ;
        /*0040*/                   FFMA R4, R4, R5, R6 ;
        /*0050*/             @P1   FFMA.FTZ R4, R4, R5, R6 ;
        /*0060*/                   LDS R7, [R9] ;
        /*0070*/                   EXIT ;
.L_x_0:
        /*0080*/                   NOP;
)";

TEST(CountInstructions, KeepsWidthAndPathAndSkipsData) {
  const SassCounts counts = count_instructions(kText);
  EXPECT_EQ(counts.total, 8);
  EXPECT_EQ(counts.by_opcode.at("LDG.128"), 1);
  EXPECT_EQ(counts.by_opcode.at("LDG.64"), 1);
  EXPECT_EQ(counts.by_opcode.at("LDGSTS.BYPASS.128"), 1);
  EXPECT_EQ(counts.of("FFMA"), 2);
  EXPECT_EQ(counts.of("LDG"), 2) << "LDGSTS is another instruction";
  EXPECT_EQ(counts.of("LDS"), 1);
  EXPECT_EQ(counts.of("STL"), 0);
  EXPECT_FALSE(counts.by_opcode.contains("NOP"));
}

/// Three loops: a copy without FFMAs, the outer one, and inside it the one that counts.
constexpr const char* kLoops = R"(
.L_x_0:
        /*0000*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0010*/              @!P0 BRA `(.L_x_0) ;
.L_x_1:
        /*0020*/                   MOV R1, R2 ;
.L_x_2:
        /*0030*/                   LDS.128 R8, [R9] ;
        /*0040*/                   FFMA R4, R4, R5, R6 ;
        /*0050*/                   FFMA R4, R4, R5, R6 ;
        /*0060*/                   FFMA R4, R4, R5, R6 ;
        /*0070*/               @P0 BRA `(.L_x_2) ;
        /*0080*/                   FFMA R4, R4, R5, R6 ;
        /*0090*/               @P1 BRA `(.L_x_1) ;
        /*00a0*/               @P1 BRA `(.L_x_3) ;
        /*00b0*/                   STG.E [R2], R4 ;
.L_x_3:
        /*00c0*/                   EXIT ;
)";

TEST(MainLoop, IsTheInnermostThatHoldsTheArithmetic) {
  const auto loop = main_loop(kLoops);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->total, 5);
  EXPECT_EQ(loop->of("FFMA"), 3);
  EXPECT_EQ(loop->of("LDS"), 1);
  EXPECT_EQ(loop->of("LDG"), 0);
}

TEST(MainLoop, CodeWithoutOneHasNone) {
  EXPECT_FALSE(main_loop(kText));
  EXPECT_FALSE(main_loop(std::string_view(kLoops).substr(0, 130))) << "a loop without arithmetic";
}

TEST(Disassemble, ReportsAProgramThatFails) {
  const auto missing = disassemble("/nonexistent/nvdisasm", "x.cubin");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kEnvironment);
  const auto failing = disassemble("/bin/ls", "/nonexistent.cubin");
  ASSERT_FALSE(failing);
  EXPECT_NE(failing.error().message.find("/nonexistent.cubin"), std::string::npos);
}

TEST(Disassemble, AWarningIsNoFailure) {
  const support::ScratchFolder folder;
  std::ofstream(folder.path() / "tool") << "echo code; echo a warning >&2";
  EXPECT_EQ(disassemble("/bin/sh", folder.path() / "tool").value(), "code\n");
}

TEST(FindDisassembler, TheVariableDecides) {
  setenv("PGTUNE_NVDISASM", "/bin/ls", 1);
  EXPECT_EQ(find_disassembler().value(), std::filesystem::path("/bin/ls"));
  setenv("PGTUNE_NVDISASM", "/nonexistent/nvdisasm", 1);
  const auto missing = find_disassembler();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(missing.error().message.find("/nonexistent/nvdisasm"), std::string::npos);
  unsetenv("PGTUNE_NVDISASM");
}

}  // namespace
}  // namespace pgtune::tool
