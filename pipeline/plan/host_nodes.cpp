// SPDX-License-Identifier: MIT
#include "pipeline/plan/host_nodes.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace pgtune {
namespace {

namespace fs = std::filesystem;

// <linux/mempolicy.h>, which not every system has.
constexpr int kPreferred = 1;                // MPOL_PREFERRED: of the node as long as it has pages, then of others
constexpr unsigned long kNodeOfAddress = 3;  // MPOL_F_NODE | MPOL_F_ADDR
constexpr std::size_t kNodePage = 4096, kLookEvery = std::size_t{16} << 20;

std::optional<int> node_of(const void* memory) {
  int node = -1;
  if (::syscall(SYS_get_mempolicy, &node, nullptr, 0, memory, kNodeOfAddress) != 0) return std::nullopt;
  return node;
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::vector<int>> allowed_nodes(const fs::path& proc) {
  constexpr std::string_view kLabel = "Mems_allowed_list:";
  std::ifstream file(proc / "self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kLabel)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", kLabel.size());
    return parse_node_list(begin == std::string::npos ? "" : std::string_view(line).substr(begin));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<int>> parse_node_list(std::string_view text) {
  std::vector<int> nodes;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), range.size() + 1));
    const char* const end = range.data() + range.size();
    int first = 0;
    auto read = std::from_chars(range.data(), end, first);
    if (read.ec != std::errc() || first < 0) return std::nullopt;
    int last = first;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || read.ptr != end || last < first) return std::nullopt;
    for (int node = first; node <= std::min(last, kMostHostNodes - 1); ++node) nodes.push_back(node);
  }
  return nodes;
}

std::vector<int> host_nodes(const fs::path& proc, const fs::path& nodes) {
  const auto with_memory = parse_node_list(first_line(nodes / "has_memory"));
  const auto allowed = allowed_nodes(proc);
  std::vector<int> both;
  if (!with_memory || !allowed) return both;
  std::copy_if(with_memory->begin(), with_memory->end(), std::back_inserter(both),
               [&](int node) { return std::find(allowed->begin(), allowed->end(), node) != allowed->end(); });
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  return both;
}

bool can_choose_node(int node) {
  void* const page = ::mmap(nullptr, kNodePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  bool there = prefer_node(page, kNodePage, node);
  if (there) {
    *static_cast<volatile char*>(page) = 1;
    there = lies_on_node(page, kNodePage, node);
  }
  ::munmap(page, kNodePage);
  return there;
}

std::vector<int> choosable_host_nodes(std::vector<int> nodes, bool (*can_choose)(int)) {
  std::erase_if(nodes, [can_choose](int node) { return !can_choose(node); });
  if (nodes.size() < 2) nodes.clear();
  return nodes;
}

bool prefer_node(void* memory, std::size_t bytes, int node) {
  if (node < 0 || node >= kMostHostNodes) return false;
  const unsigned long mask = 1UL << static_cast<unsigned>(node);
  // The kernel uses one bit less than the given number.
  return ::syscall(SYS_mbind, memory, bytes, kPreferred, &mask, kMostHostNodes + 1, 0) == 0;
}

bool lies_on_node(const void* memory, std::size_t bytes, int node) {
  const auto* const begin = static_cast<const std::byte*>(memory);
  for (std::size_t at = 0; at < bytes; at += kLookEvery) {
    if (node_of(begin + at) != node) return false;
  }
  return bytes == 0 || node_of(begin + bytes - 1) == node;
}

}  // namespace pgtune
