// SPDX-License-Identifier: MIT
#include "pipeline/plan/candidate.hpp"

#include <fmt/format.h>

namespace pgtune::pipeline {
namespace {

constexpr EnumNames<Cut, 3> kCuts{{{Cut::kM, "M"}, {Cut::kN, "N"}, {Cut::kK, "K"}}};
constexpr EnumNames<StreamUse, 4> kUses{{{StreamUse::kPerChunk, "per_chunk"},
                                         {StreamUse::kLanes, "lanes"},
                                         {StreamUse::kOneCopyLane, "one_copy_lane"},
                                         {StreamUse::kDefaultStream, "default_stream"}}};
constexpr EnumNames<IssueOrder, 2> kOrders{
    {{IssueOrder::kDepthFirst, "depth"}, {IssueOrder::kBreadthFirst, "breadth"}}};
constexpr EnumNames<HostMemory, 6> kMemories{{{HostMemory::kPageable, "pageable"},
                                              {HostMemory::kPinned, "pinned"},
                                              {HostMemory::kRegistered, "registered"},
                                              {HostMemory::kWriteCombined, "write_combined"},
                                              {HostMemory::kStaged, "staged"},
                                              {HostMemory::kMapped, "mapped"}}};
constexpr EnumNames<Submission, 4> kSubmissions{{{Submission::kBlocking, "blocking"},
                                                 {Submission::kLoop, "loop"},
                                                 {Submission::kGraph, "graph"},
                                                 {Submission::kBatched, "batched"}}};

std::string counted(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string streams_text(const Candidate& candidate) {
  switch (candidate.use) {
    case StreamUse::kLanes:
      return "a stream a worker";
    case StreamUse::kOneCopyLane:
      return "one copy stream";
    case StreamUse::kDefaultStream:
      return counted(candidate.streams, "stream") + " and the default stream";
    case StreamUse::kPerChunk:
      break;
  }
  return counted(candidate.streams, "stream");
}

}  // namespace

EnumTable<Cut> enum_table(Cut /*value*/) { return kCuts; }
EnumTable<StreamUse> enum_table(StreamUse /*value*/) { return kUses; }
EnumTable<IssueOrder> enum_table(IssueOrder /*value*/) { return kOrders; }
EnumTable<HostMemory> enum_table(HostMemory /*value*/) { return kMemories; }
EnumTable<Submission> enum_table(Submission /*value*/) { return kSubmissions; }

int Candidate::group() const {
  if (order == IssueOrder::kDepthFirst) return 1;
  return use == StreamUse::kLanes ? buffers / 2 : streams;
}

std::string Candidate::key() const {
  std::string key = fmt::format("{}{} {} s{} b{} {} {} {}", to_string(cut), chunk, to_string(use), streams, buffers,
                                to_string(order), to_string(memory), to_string(submission));
  if (host_node) key += fmt::format(" n{}", *host_node);
  return key;
}

std::string Candidate::text() const {
  std::string out = fmt::format("{} {}", to_string(cut), chunk);
  if (memory == HostMemory::kMapped) return out + ", zero-copy";
  if (submission == Submission::kBlocking) return fmt::format("{}, serial, {}", out, to_string(memory));
  out += fmt::format(", {}, {}", streams_text(*this), counted(buffers, "buffer"));
  if (order == IssueOrder::kBreadthFirst) out += ", breadth-first";
  std::string memory_word(to_string(memory));
  if (memory == HostMemory::kWriteCombined) memory_word = "write-combined";
  if (host_node) memory_word += fmt::format(" on node {}", *host_node);
  out += ", " + memory_word;
  if (submission == Submission::kGraph) out += ", graph";
  if (submission == Submission::kBatched) out += ", batched copies";
  return out;
}

}  // namespace pgtune::pipeline
