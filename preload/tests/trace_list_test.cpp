// SPDX-License-Identifier: MIT
#include "preload/program/trace_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "preload/program/compare_report.hpp"
#include "preload/shim/abi.hpp"
#include "preload/shim/ledger_format.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/cli/options/shape_list.hpp"

namespace pgtune::tool {
namespace {

RecordedGemm bf16(std::int64_t m, std::uint64_t calls, std::vector<double> samples_s) {
  RecordedGemm gemm;
  preload::Key& key = gemm.key;
  key.call = preload::Call::kGemmEx;
  key.m = m, key.n = 512, key.k = 256;
  key.lda = key.ldb = 256, key.ldc = 512;
  key.trans_b = 1;
  key.alpha = 1;
  key.type_a = key.type_b = key.type_d = key.bias_type = preload::kR16BF;
  key.compute = preload::kCompute32F;
  gemm.calls = calls;
  gemm.samples_s = std::move(samples_s);
  return gemm;
}

RecordedGemms recorded(std::vector<RecordedGemm> gemms, int processes = 1, std::uint64_t lost = 0) {
  RecordedGemms out{std::move(gemms), processes, lost};
  expect_times(out);
  return out;
}

TEST(TraceLists, HaveTheHeaviestShapeFirst) {
  RecordedGemm other = bf16(64, 10, {2e-6});
  other.key.type_a = other.key.type_b = other.key.type_d = preload::kR64F;
  other.key.call = preload::Call::kDgemm;
  RecordedGemm strided = bf16(128, 30, {});  // expected to take twice as long as one of 64
  strided.key.lda = 320;
  strided.key.beta = 1;
  strided.captured_calls = strided.graph_calls = 10;
  const TraceList list =
      trace_list(recorded({bf16(64, 20, {1e-6, 3e-6, 2e-6}), strided, other}, 2, 5), "serve", 10, true);
  EXPECT_EQ(
      list.text,
      "# GEMMs that 'serve' asked of cuBLAS, from `pgtune run --trace`; shares are of their GPU time.\n"
      "# 70 calls in 2 processes.\n"
      "# Not seen: 5 calls of more problems than a process can record.\n"
      "# Calls in CUDA graphs count once, at capture: no launch of these graphs was seen.\n"
      "128x512x256 bf16 nt lda 320 beta 1 weight 72.73  # 72.7 %  30 calls and 10 captured, cublasGemmEx\n"
      "64x512x256 bf16 nt                 weight 18.18  # 18.2 %  20 calls, 2 us each, cublasGemmEx\n"
      "# Not searched:\n"
      "#  9.1 %  10 calls, 2 us each, cublasDgemm  64x512x256 f64: types or arithmetic that pgtune has no kernels "
      "for\n");
  EXPECT_EQ(list.shapes, 2U);
  EXPECT_EQ(list.calls, 70U);
  EXPECT_NEAR(list.searched_share, 10.0 / 11, 1e-9);
  const auto shapes = parse_shape_list(list.text, "list");
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].lda, "320");
}

TEST(TraceLists, HaveARangeForLightShapesThatDifferInMAlone) {
  std::vector<RecordedGemm> gemms;
  for (const std::int64_t m : {7, 1, 300}) gemms.push_back(bf16(m, 2, {1e-6}));
  gemms.push_back(bf16(64, 100, {1e-6}));
  EXPECT_THAT(trace_list(recorded(gemms), "serve", 9, true).text, testing::Not(testing::HasSubstr("..")));
  gemms.push_back(bf16(20, 2, {1e-6}));
  const TraceList list = trace_list(recorded(gemms), "serve", 9, true);
  EXPECT_THAT(list.text,
              testing::HasSubstr("64x512x256 bf16 nt     weight 92.59  # 92.6 %  100 calls, 1 us each, cublasGemmEx\n"
                                 "1..300x512x256 bf16 nt weight 7.41   #  7.4 %  4 values of M, 8 calls, 1 us each, "
                                 "cublasGemmEx\n"));
  EXPECT_EQ(list.shapes, 2U);
  EXPECT_EQ(parse_shape_list(list.text, "list").at(1).first_m, 1);
  EXPECT_THAT(trace_list(recorded(gemms), "serve", 1, true).text, testing::HasSubstr("# 1 more, 7.4 % together.\n"));
  for (RecordedGemm& gemm : gemms) gemm.key.trans_a = 1, gemm.key.lda = gemm.key.m;
  EXPECT_THAT(trace_list(recorded(gemms), "serve", 9, true).text, testing::Not(testing::HasSubstr("..")))
      << "rows of A are M long";
}

TEST(TraceLists, LeaveOutWhatHasLessThanOnePercentTogether) {
  const auto text = [](double light_s) {
    return trace_list(recorded({bf16(1000, 1, {0.9}), bf16(2, 1, {light_s}), bf16(1, 1, {0.004})}), "serve", 9, true)
        .text;
  };
  EXPECT_THAT(text(0.004), testing::EndsWith("cublasGemmEx\n# 2 more, 0.9 % together.\n"));
  EXPECT_THAT(text(0.006), testing::AllOf(testing::HasSubstr("\n2x512x256 bf16 nt"),
                                          testing::EndsWith("cublasGemmEx\n# 1 more, 0.4 % together.\n")));
}

TEST(TraceLists, HaveTheDtypeThatFloat32IsServedBy) {
  RecordedGemm f32 = bf16(64, 1, {1e-6});
  f32.key.type_a = f32.key.type_b = f32.key.type_d = f32.key.bias_type = preload::kR32F;
  const auto text = [&](std::optional<Dtype> by) {
    return trace_list(recorded({f32, bf16(64, 1, {1e-6})}), "train", 9, true, by).text;
  };
  EXPECT_THAT(text({}), testing::AllOf(testing::HasSubstr("\n64x512x256 f32 nt "), testing::HasSubstr("256 bf16 nt ")));
  EXPECT_THAT(text(Dtype::kTf32x3),
              testing::AllOf(testing::HasSubstr("\n64x512x256 tf32x3 nt "), testing::HasSubstr("256 bf16 nt ")));
}

TEST(TraceLists, CountCallsOfOneProblemTogether) {
  RecordedGemm lt = bf16(64, 3, {4e-6});
  lt.key.call = preload::Call::kLtMatmul;
  EXPECT_THAT(trace_list(recorded({bf16(64, 1, {}), lt}), "serve", 9, true).text,
              testing::HasSubstr(
                  "64x512x256 bf16 nt weight 100.00 # 100.0 %  4 calls, 4 us each, cublasGemmEx cublasLtMatmul\n"));
}

TEST(Ledgers, AreReadWithoutWhatAProgramOverwrote) {
  const support::ScratchFolder folder("pgtune ledgers ");
  std::string bytes(preload::kLedgerBytes, '\0');
  const preload::LedgerHeader header{preload::kLedgerMagic, preload::kSlots, 1, 0, {}};
  std::memcpy(bytes.data(), &header, sizeof header);
  int number = 0;
  const auto add = [&](auto change) {
    preload::Slot slot{};
    slot.key = bf16(64 + number, 1, {}).key;
    slot.state = preload::kReady;
    slot.calls = 3, slot.samples = 1, slot.sample_us[0] = 5;
    change(slot);
    std::memcpy(&bytes[sizeof header + static_cast<std::size_t>(number++) * sizeof slot], &slot, sizeof slot);
  };
  add([](preload::Slot&) {});
  add([](preload::Slot& slot) { slot.state = preload::kClaimed; });
  add([](preload::Slot& slot) { slot.calls = 0; });
  add([](preload::Slot& slot) { slot.key.call = static_cast<preload::Call>(200); });
  add([](preload::Slot& slot) { slot.sample_us[0] = -1; });
  std::ofstream(folder / "1.0") << bytes;
  std::ofstream(folder / "2.0") << bytes.substr(0, bytes.size() - 1);
  std::ofstream(folder / "note") << "no ledger";
  const RecordedGemms read = read_ledgers(folder.path());
  EXPECT_EQ(read.processes, 1);
  ASSERT_EQ(read.gemms.size(), 1U);
  EXPECT_EQ(read.gemms[0].calls, 3U);
  EXPECT_NEAR(read.time_s(), 15e-6, 1e-12);
}

TEST(Comparisons, CallNoGainWhatTheRunsSpreadCovers) {
  EXPECT_EQ(gain_of({{2.0, 2.1, 2.2}, {1.7, 1.8, 1.9}, {}, {}}), Gain::kFaster);
  EXPECT_EQ(gain_of({{2.0, 2.1, 2.2}, {1.7, 1.8, 2.0}, {}, {}}), Gain::kNothing);
  EXPECT_EQ(gain_of({{1.7, 1.8, 1.9}, {2.0, 2.1, 2.2}, {}, {}}), Gain::kSlower);
}

TEST(Comparisons, GiveNoVerdictWhereNoCallWasServed) {
  EXPECT_EQ(compare_text({{0.002, 0.0021}, {0.003, 0.0031}, {}, {}}, true),
            "without  2.050 ms (2.000 to 2.100, 2 runs)\n"
            "with     3.050 ms (3.000 to 3.100, 2 runs)\n"
            "\n"
            "No call of cuBLAS was seen, or it refused them all.\n"
            "No verdict: no call was served, so that the times differ by start-up and checks alone.\n");
}

TEST(Comparisons, PrintWhatWasNotServedAndWhy) {
  RecordedGemm served = bf16(64, 10, {8e-6}), refused = bf16(128, 10, {2e-6});
  served.served_calls = 10;
  refused.refused_calls[0] = 10;
  const Compared compared{
      {2.0, 2.1}, {2.0, 2.2}, recorded({bf16(64, 10, {9e-6}), bf16(128, 10, {1e-6})}), recorded({served, refused})};
  EXPECT_EQ(compare_text(compared, true),
            "without  2.050 s (2.000 to 2.100, 2 runs)\n"
            "with     2.100 s (2.000 to 2.200, 2 runs)\n"
            "GEMMs    0.100 ms a run without, 0.050 ms with: expected from timed calls\n"
            "\n"
            "shape                 share  without us  with us  by\n"
            "64x512x256 bf16 nt   90.0 %        9.00     8.00  pgtune\n"
            "128x512x256 bf16 nt  10.0 %        1.00     2.00  cuBLAS\n"
            "\n"
            "Served 80.0 % of the GEMM time: 10 of 20 calls.\n"
            "Not served, 20.0 %, 10 calls: no kernel is tuned for it, or none that is faster than cuBLASLt.\n"
            "Nothing gained: 0.976 times, within the spread of the runs.\n");
}

TEST(Comparisons, CountShapesBeyondTwenty) {
  std::vector<RecordedGemm> gemms;
  for (int m = 1; m <= 22; ++m) gemms.push_back(bf16(m, 10, {1e-6}));
  const std::string text = compare_text({{2.0}, {2.0}, recorded(gemms), recorded(gemms)}, true);
  EXPECT_THAT(text, testing::HasSubstr("... and 2 more shapes\n"));
}

}  // namespace
}  // namespace pgtune::tool
