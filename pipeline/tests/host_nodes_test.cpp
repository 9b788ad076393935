// SPDX-License-Identifier: MIT
#include "pipeline/plan/host_nodes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace pgtune {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(HostNodes, ListsAreReadAsTheKernelWritesThem) {
  EXPECT_THAT(parse_node_list("0").value(), ElementsAre(0));
  EXPECT_THAT(parse_node_list("0-2,5,7-8").value(), ElementsAre(0, 1, 2, 5, 7, 8));
  EXPECT_THAT(parse_node_list("").value(), IsEmpty());
  EXPECT_THAT(parse_node_list("63-1000000000").value(), ElementsAre(63));
  for (const char* none : {"a", "0-", "-1", "2-1", "0,,1", "0 1", "0x"}) EXPECT_FALSE(parse_node_list(none)) << none;
}

class HostNodesOf : public ::testing::Test {
 protected:
  HostNodesOf() { fs::create_directories(folder_ / "self"); }
  std::vector<int> nodes(const std::string& with_memory, const std::string& status) const {
    std::ofstream(folder_ / "has_memory") << with_memory;
    std::ofstream(folder_ / "self/status") << status;
    return host_nodes(folder_.path(), folder_.path());
  }
  const support::ScratchFolder folder_;
};

TEST_F(HostNodesOf, AreThoseWithMemoryThatTheProcessMayUse) {
  EXPECT_THAT(nodes("0-3\n", "Name:\tx\nMems_allowed:\tf\nMems_allowed_list:\t1,3-7\n"), ElementsAre(1, 3));
  EXPECT_THAT(nodes("0\n", "Mems_allowed_list:\t0\n"), ElementsAre(0));
  EXPECT_THAT(nodes("0-1\n", "Name:\tx\n"), IsEmpty());
  EXPECT_THAT(nodes("what", "Mems_allowed_list:\t0-1\n"), IsEmpty());
  EXPECT_THAT(host_nodes("/nonexistent", "/nonexistent"), IsEmpty());
}

TEST(HostNodes, MemoryLiesWhereItWasToldTo) {
  constexpr std::size_t kBytes = std::size_t{40} << 20;
  const std::vector<int> nodes = host_nodes();
  if (nodes.empty()) GTEST_SKIP() << "the kernel tells no nodes";
  for (const int node : nodes) {
    void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const bool taken = prefer_node(memory, kBytes, node);
    std::memset(memory, 0, kBytes);
    if (taken) {
      EXPECT_TRUE(lies_on_node(memory, kBytes, node));
      EXPECT_FALSE(lies_on_node(memory, kBytes, node + 1));
    }
    ::munmap(memory, kBytes);
    if (!taken) GTEST_SKIP() << "the system refuses, as containers may";
  }
}

TEST(HostNodes, OneThatIsNotThereIsRefused) {
  alignas(4096) static char page[4096];
  EXPECT_FALSE(prefer_node(page, sizeof page, -1));
  EXPECT_FALSE(prefer_node(page, sizeof page, kMostHostNodes));
  EXPECT_FALSE(prefer_node(page, sizeof page, kMostHostNodes - 1));
}

TEST(HostNodes, OfOneThereIsNothingToChoose) {
  const auto even = [](int node) { return node % 2 == 0; };
  EXPECT_THAT(choosable_host_nodes({0, 1, 2}, even), ElementsAre(0, 2));
  EXPECT_THAT(choosable_host_nodes({0, 1}, even), IsEmpty()) << "one is left";
  EXPECT_THAT(choosable_host_nodes({0}, even), IsEmpty());
  EXPECT_THAT(choosable_host_nodes({1, 3}, even), IsEmpty());
  EXPECT_FALSE(can_choose_node(-1));
}

}  // namespace
}  // namespace pgtune
