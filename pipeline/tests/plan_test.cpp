// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <numeric>

#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/tests/sample_machine.hpp"

namespace pgtune::pipeline {
namespace {

using test::kRoomy;
using test::streamed;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StreamedProblem, NamesOperandsAndRefusesWhatItHasNot) {
  const StreamedProblem problem = streamed("4096x2048x1024", "A,D");
  EXPECT_TRUE(problem.a && !problem.b && problem.d);
  EXPECT_EQ(problem.stream_text(), "A,D");
  EXPECT_EQ(problem.bytes_in(), 4096 * 1024 * 2);
  EXPECT_EQ(problem.bytes_out(), 4096 * 2048 * 2);
  EXPECT_THAT(parse_streamed(problem.problem, "A,X").error().message, HasSubstr("'X' is no operand"));
  EXPECT_THAT(parse_streamed(problem.problem, "A,A").error().message, HasSubstr("twice"));
  EXPECT_THAT(parse_streamed(problem.problem, "").error().message, HasSubstr("no operand"));
  Problem scaled = problem.problem;
  scaled.beta = 1;
  EXPECT_THAT(parse_streamed(scaled, "A").error().message, HasSubstr("no alpha or beta"));
}

TEST(ChunkPlan, ChunksCoverTheExtentOnce) {
  const StreamedProblem problem = streamed("1000x512x256", "A,D");
  const auto chunks = chunks_of(problem.problem, Cut::kM, 384);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks.back().first, 768);
  EXPECT_EQ(chunks.back().extent, 232);
}

TEST(ChunkPlan, RegionsFollowTheLayout) {
  StreamedProblem problem = streamed("1024x512x256", "A,B,D");
  const Chunk chunk{128, 64};
  EXPECT_EQ(region_of(problem, Matrix::kA, Cut::kM, chunk), (Region{128, 0, 64, 256}));
  EXPECT_EQ(region_of(problem, Matrix::kB, Cut::kM, chunk), (Region{0, 0, 256, 512}));
  EXPECT_EQ(region_of(problem, Matrix::kD, Cut::kN, chunk), (Region{0, 128, 1024, 64}));
  EXPECT_EQ(region_of(problem, Matrix::kB, Cut::kK, chunk), (Region{128, 0, 64, 512}));
  problem.problem.trans_a = true;
  EXPECT_EQ(region_of(problem, Matrix::kA, Cut::kM, chunk), (Region{0, 128, 256, 64}));
}

TEST(ChunkPlan, ChunkProblemsArePackedWhereTheyHaveBuffers) {
  const StreamedProblem problem = streamed("1024x512x256", "B");
  Candidate candidate;
  candidate.cut = Cut::kN;
  candidate.chunk = 128;
  const Problem chunk = chunk_problem(problem, candidate, {128, 128});
  EXPECT_EQ(chunk.n, 128);
  EXPECT_EQ(chunk.ldb, 128);  // streams: a packed buffer
  EXPECT_EQ(chunk.ldc, 512);  // stays on the GPU: a part of the whole
  EXPECT_EQ(chunk.beta, 0);
}

TEST(ChunkPlan, ExtentsAscendAndAreFewEnough) {
  for (const std::int64_t m : {1, 100, 5000, 65536, 1000000}) {
    Problem problem = streamed("64x64x64", "A").problem;
    problem.m = m;
    const auto extents = chunk_extents(problem, Cut::kM);
    ASSERT_FALSE(extents.empty());
    EXPECT_TRUE(std::is_sorted(extents.begin(), extents.end()));
    EXPECT_EQ(extents.back(), m);
    for (const std::int64_t extent : extents) EXPECT_LE((m + extent - 1) / extent, kMostChunks);
  }
}

TEST(Legality, SaysWhy) {
  const StreamedProblem problem = streamed("4096x4096x4096", "A,D");
  Candidate candidate;
  candidate.chunk = 512;
  EXPECT_EQ(why_illegal(problem, candidate, kRoomy), "");
  const auto why = [&](auto change, const Limits& limits = kRoomy) {
    Candidate other = candidate;
    change(other);
    return why_illegal(problem, other, limits);
  };
  EXPECT_THAT(why([](Candidate& c) { c.cut = Cut::kK; }), HasSubstr("its D must be f32"));
  EXPECT_THAT(why([](Candidate& c) { c.chunk = 8192; }), HasSubstr("not within M = 4096"));
  EXPECT_THAT(why([](Candidate& c) { c.streams = 2; }), HasSubstr("another one's"));
  EXPECT_THAT(why([](Candidate& c) { c.buffers = 9; }), HasSubstr("more buffers than chunks"));
  EXPECT_THAT(why([](Candidate& c) { c.order = IssueOrder::kBreadthFirst; }), HasSubstr("two streams"));
  EXPECT_THAT(why([](Candidate& c) {
                c.memory = HostMemory::kPageable;
                c.submission = Submission::kGraph;
              }),
              HasSubstr("cannot be captured"));
  EXPECT_THAT(why([](Candidate& c) {
                c.use = StreamUse::kDefaultStream;
                c.submission = Submission::kGraph;
              }),
              HasSubstr("default stream cannot be captured"));
  EXPECT_THAT(why([](Candidate& c) { c.memory = HostMemory::kMapped; }), HasSubstr("needs no chunks"));
  EXPECT_THAT(why([](Candidate&) {}, {kRoomy.device_bytes, 1 << 20}), HasSubstr("--pinned-limit"));
  EXPECT_THAT(why([](Candidate&) {}, {1 << 20, kRoomy.pinned_bytes}), HasSubstr("GPU memory"));
  const auto batched = [](Candidate& c) {
    c.use = StreamUse::kLanes;
    c.buffers = 4;
    c.order = IssueOrder::kBreadthFirst;
    c.submission = Submission::kBatched;
  };
  EXPECT_EQ(why(batched), "");
  EXPECT_THAT(why(batched, {kRoomy.device_bytes, kRoomy.pinned_bytes, false}), HasSubstr("CUDA 12.8"));
  EXPECT_THAT(why([&](Candidate& c) { batched(c), c.buffers = 2; }), HasSubstr("4, 6, 8"));
  EXPECT_THAT(why([&](Candidate& c) { batched(c), c.buffers = 5; }), HasSubstr("4, 6, 8"));
  EXPECT_THAT(why([&](Candidate& c) { batched(c), c.memory = HostMemory::kStaged; }), HasSubstr("one by one"));
  EXPECT_THAT(why([&](Candidate& c) { batched(c), c.order = IssueOrder::kDepthFirst; }), HasSubstr("one copy each"));
  EXPECT_THAT(why([&](Candidate& c) { batched(c), c.submission = Submission::kLoop; }), HasSubstr("two streams"));
  const auto on_node = [](HostMemory memory, int node) {
    return [=](Candidate& c) {
      c.memory = memory;
      c.host_node = node;
    };
  };
  EXPECT_EQ(why(on_node(HostMemory::kRegistered, 1)), "");
  EXPECT_THAT(why(on_node(HostMemory::kPinned, 1)), HasSubstr("registered memory alone"));
  EXPECT_THAT(why(on_node(HostMemory::kRegistered, -1)), HasSubstr("registered memory alone"));
  const StreamedProblem only_d = streamed("4096x4096x4096", "D");
  candidate.memory = HostMemory::kWriteCombined;
  EXPECT_THAT(why_illegal(only_d, candidate, kRoomy), HasSubstr("none streams"));
  const StreamedProblem only_b = streamed("4096x4096x4096", "B");
  EXPECT_THAT(why_illegal(only_b, Candidate{.chunk = 512}, kRoomy), HasSubstr("divides no operand"));
}

TEST(Legality, CountsMemory) {
  const StreamedProblem problem = streamed("4096x4096x4096", "A,D");
  Candidate candidate{.chunk = 1024, .streams = 2, .buffers = 3};
  const std::int64_t matrix = std::int64_t{4096} * 4096 * 2;
  EXPECT_EQ(device_bytes(problem, candidate), matrix + 3 * 2 * matrix / 4 + 4 * kWorkspaceBytes);
  EXPECT_EQ(pinned_bytes(problem, candidate), 2 * matrix);
  candidate.memory = HostMemory::kStaged;
  EXPECT_EQ(pinned_bytes(problem, candidate), 3 * 2 * matrix / 4);
  candidate.memory = HostMemory::kPageable;
  EXPECT_EQ(pinned_bytes(problem, candidate), 0);
}

TEST(Space, HasNodesOfTheHostWhereThereAreSeveral) {
  const StreamedProblem problem = streamed("4096x4096x4096", "A,D");
  SpaceLimits limits{kRoomy, Cut::kM, {}};
  const std::vector<Candidate> anywhere = enumerate(problem, limits).candidates;
  limits.host_nodes = {3};
  EXPECT_EQ(enumerate(problem, limits).candidates, anywhere);
  limits.host_nodes = {0, 2};
  const std::vector<Candidate> placed = enumerate(problem, limits).candidates;
  const auto registered = std::count_if(anywhere.begin(), anywhere.end(), [](const Candidate& candidate) {
    return candidate.memory == HostMemory::kRegistered;
  });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(placed.size()), static_cast<std::ptrdiff_t>(anywhere.size()) + 2 * registered);
  std::set<std::string> keys;
  for (const Candidate& candidate : placed) keys.insert(candidate.key());
  EXPECT_EQ(keys.size(), placed.size());
  // A neighbour has another place, or other memory, which has none.
  Candidate center{.chunk = 512, .streams = 2, .buffers = 2, .memory = HostMemory::kRegistered};
  center.host_node = 2;
  std::set<std::string> around;
  for (const Candidate& candidate : neighbours(problem, center, limits)) around.insert(candidate.key());
  const std::string base = "M512 per_chunk s2 b2 depth ";
  for (const char* near : {"registered loop", "registered loop n0", "pinned loop", "registered graph n2"})
    EXPECT_EQ(around.count(base + near), 1U) << near;
  EXPECT_EQ(around.count("M512 per_chunk s2 b3 depth registered loop n2"), 1U);
  EXPECT_EQ(around.count(base + "pinned loop n2"), 0U);
  EXPECT_THAT(center.text(), HasSubstr("registered on node 2"));
}

TEST(Space, HasEveryKindOfMemoryAndOnlyLegalCandidates) {
  const StreamedProblem problem = streamed("65536x4096x4096", "A,D");
  const SpaceLimits limits{kRoomy, Cut::kM, {}};
  const Space space = enumerate(problem, limits);
  std::set<HostMemory> memories;
  for (const Candidate& candidate : space.candidates) {
    memories.insert(candidate.memory);
    ASSERT_EQ(why_illegal(problem, candidate, kRoomy), "") << candidate.key();
  }
  EXPECT_THAT(space.candidates, ::testing::Contains(::testing::Field(&Candidate::submission, Submission::kBatched)));
  EXPECT_EQ(memories.size(), 5U);  // zero-copy is a rung of the ladder
  EXPECT_FALSE(space.reasons.empty());
}

TEST(Legality, BatchesWantTwoPiecesOfMemory) {
  Candidate candidate{.cut = Cut::kK, .chunk = 512, .submission = Submission::kBatched};
  StreamedProblem problem = streamed("4096x4096x4096", "A,B", Dtype::kF32);
  EXPECT_THAT(why_illegal(problem, candidate, kRoomy), HasSubstr("whole rows"));  // of A they are parts
  problem.problem.trans_a = true;
  EXPECT_EQ(why_illegal(problem, candidate, kRoomy), "");
  candidate.cut = Cut::kN;
  EXPECT_THAT(why_illegal(problem, candidate, kRoomy), HasSubstr("one copy each"));
}

TEST(Space, IsZeroCopyAloneWhereOnlyMappedMemoryIsWanted) {
  const Space space = enumerate(streamed("4096x4096x4096", "A,D"), {kRoomy, std::nullopt, HostMemory::kMapped});
  ASSERT_EQ(space.candidates.size(), 1U);
  EXPECT_EQ(space.candidates.front().text(), "M 4096, zero-copy");
}

TEST(Space, SaysWhyItIsEmpty) {
  const StreamedProblem problem = streamed("65536x4096x4096", "A,D");
  const Space space = enumerate(problem, {{1 << 20, kRoomy.pinned_bytes}, {}, {}});
  EXPECT_THAT(space.candidates, IsEmpty());
  EXPECT_THAT(space.reasons, ::testing::Contains(HasSubstr("GPU memory")));
}

TEST(Space, SaysWhyACutIsNone) {
  const Space space = enumerate(streamed("4096x4096x4096", "A,D"), {kRoomy, Cut::kK, {}});
  EXPECT_THAT(space.candidates, IsEmpty());
  ASSERT_EQ(space.reasons.size(), 1U);
  EXPECT_THAT(space.reasons.front(), HasSubstr("its D must be f32"));
}

TEST(Space, NeighboursAreLegalAndOthers) {
  const StreamedProblem problem = streamed("65536x4096x4096", "A,D");
  const Candidate center{.chunk = 4096, .use = StreamUse::kLanes, .buffers = 3};
  const auto around = neighbours(problem, center, {kRoomy, {}, {}});
  EXPECT_GT(around.size(), 12U);
  for (const Candidate& candidate : around) {
    EXPECT_EQ(why_illegal(problem, candidate, kRoomy), "") << candidate.key();
    EXPECT_NE(candidate, center);
  }
  const auto batched = std::find_if(around.begin(), around.end(), [](const Candidate& candidate) {
    return candidate.submission == Submission::kBatched;
  });
  ASSERT_NE(batched, around.end());
  EXPECT_EQ(batched->text(), "M 4096, a stream a worker, 4 buffers, breadth-first, pinned, batched copies");
  EXPECT_EQ(batched->key(), "M4096 lanes s1 b4 breadth pinned batched");
  const auto back = neighbours(problem, *batched, {kRoomy, {}, {}});
  EXPECT_THAT(back, ::testing::Contains(Candidate{.chunk = 4096, .use = StreamUse::kLanes, .buffers = 4}));
  EXPECT_THAT(back, ::testing::Contains(Candidate{.chunk = 4096, .streams = 2, .buffers = 4}));
  for (const int buffers : {6, 8}) {
    Candidate more = *batched;
    more.buffers = buffers;
    EXPECT_THAT(back, ::testing::Contains(more));
  }
}

TEST(Space, TheLadderClimbsFromTheSerialLoop) {
  const StreamedProblem problem = streamed("65536x4096x4096", "A,D");
  const auto rungs = ladder(problem, Candidate{.chunk = 4096, .streams = 4, .buffers = 4}, kRoomy);
  ASSERT_GE(rungs.size(), 9U);
  EXPECT_EQ(rungs.front().candidate.submission, Submission::kBlocking);
  EXPECT_EQ(rungs.front().candidate.memory, HostMemory::kPageable);
  const Machine machine = test::machine(problem, 1e15);
  EXPECT_GT(test::seconds(machine, problem, rungs.front().candidate),
            1.9 * test::seconds(machine, problem, rungs[2].candidate));
}

}  // namespace
}  // namespace pgtune::pipeline
