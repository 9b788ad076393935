// SPDX-License-Identifier: MIT
#include "tuner/model/gpu_process.hpp"

#include <gtest/gtest.h>

namespace pgtune {
namespace {

TEST(GpuProcess, TextHasWhatIsKnown) {
  EXPECT_EQ((GpuProcess{7, std::int64_t{3} << 30, "python3"}.text()), "7 (python3, 3072 MiB)");
  EXPECT_EQ((GpuProcess{7, 0, "python3"}.text()), "7 (python3)");
  EXPECT_EQ((GpuProcess{7, std::int64_t{1} << 30}.text()), "7 (1024 MiB)");
  EXPECT_EQ(GpuProcess{7}.text(), "7");
}

TEST(OtherProcesses, AreThoseBesideTheOwn) {
  EXPECT_EQ(other_processes({{7}, {8}, {9}}, {8}), (OtherProcesses{{{7}, {9}}, false}));
  EXPECT_EQ(other_processes({{7}, {8}, {9}}, {8, 9}), (OtherProcesses{{{7}}, false}));
  EXPECT_EQ(other_processes({{8}}, {8}), OtherProcesses{});
  EXPECT_EQ(other_processes({{7}}, {}), (OtherProcesses{{{7}}, false}));
  EXPECT_EQ(other_processes({}, {8}), OtherProcesses{});
}

TEST(OtherProcesses, WithoutTheOwnNumberOneOfThemIsItAllTheSame) {
  EXPECT_EQ(other_processes({{700}}, {8}), OtherProcesses{});
  EXPECT_EQ(other_processes({{700}, {701}}, {8}), (OtherProcesses{{{700}, {701}}, true}));
}

}  // namespace
}  // namespace pgtune
