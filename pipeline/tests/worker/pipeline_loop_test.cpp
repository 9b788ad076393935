// SPDX-License-Identifier: MIT
// The worker's loop over a schedule, on a runtime that runs things as late and as mixed up as streams allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "pipeline/plan/host_nodes.hpp"
#include "pipeline/tests/worker/pipeline_loop_fixture.hpp"
#include "pipeline/worker/chunk_kernels.hpp"

namespace pgtune::gpu {
namespace {

using namespace test;
using pipeline::Candidate;
using pipeline::Cut;
using pipeline::HostMemory;
using pipeline::Matrix;
using pipeline::StreamUse;
using pipeline::Submission;
using ::testing::SizeIs;
namespace fake = pgtune::test::fake_runtime;

TEST_F(PipelineLoop, EveryLegalCandidateIsRightWhateverTheOrder) {
  std::uint64_t seed = 0;
  std::set<std::string> words;
  for (const char* stream : {"A,D", "A,B,D", "B", "D"}) {
    for (const bool transposed : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(prepare(stream, transposed));
      for (const Candidate& candidate : every_kind()) {
        if (!why_illegal(streamed_, candidate, kRoomy).empty()) continue;
        const std::string what = std::string(stream) + (transposed ? " tt " : " nn ") + candidate.key();
        fake::shuffle(++seed);
        auto loaded = load(candidate);
        ASSERT_TRUE(loaded) << what << ": " << loaded.error().message();
        expect_right(**loaded, what);
        for (const std::string_view word :
             {to_string(candidate.use), to_string(candidate.memory), to_string(candidate.submission)})
          words.emplace(word);
      }
      EXPECT_EQ(fake::counts().without_capture, 0);
      resident_ = {};
    }
  }
  EXPECT_THAT(words, SizeIs(4 + 6 + 4));
  EXPECT_GT(fake::counts().batches, 0);
}

constexpr Candidate kBatched{.chunk = 4,
                             .use = StreamUse::kLanes,
                             .buffers = 4,
                             .order = pipeline::IssueOrder::kBreadthFirst,
                             .submission = Submission::kBatched};

TEST_F(PipelineLoop, CopiesOfAGroupAreOneCall) {
  prepare("A,D", false);
  auto loaded = load(kBatched);
  ASSERT_TRUE(loaded);
  const fake::Counts before = fake::counts();
  expect_right(**loaded, "in groups of two chunks");
  EXPECT_EQ(fake::counts().batches - before.batches, 2 * 3);  // six chunks
  EXPECT_EQ(fake::counts().copies - before.copies, 2 * 6);
  const auto timeline = (*loaded)->trace();
  ASSERT_TRUE(timeline) << timeline.error().message();
  EXPECT_TRUE(is_of(make_schedule(streamed_, kBatched), *timeline));
  for (const pipeline::Span& span : timeline->spans) EXPECT_LT(span.start_s, span.end_s);
  fake::fail("cudaMemcpyBatchAsync", cudaErrorUnknown, 2);
  pipeline::RunSample sample;
  EXPECT_EQ((*loaded)->run(sample).error().code, cudaErrorUnknown);
  fake::fail("cudaMemcpyBatchAsync", cudaSuccess);
  expect_right(**loaded, "after a failure");
}

TEST_F(PipelineLoop, TheDriverSaysWhetherItHasBatchedCopies) {
  EXPECT_TRUE(has_batched_copies().value());
  fake::set_driver(12040);
  EXPECT_FALSE(has_batched_copies().value());
  fake::fail("cudaDriverGetVersion", cudaErrorUnknown);
  EXPECT_FALSE(has_batched_copies());
}

namespace exported = pgtune_pipeline::detail;

std::vector<std::size_t> batch_bytes;
std::size_t* batch_failed = nullptr;

cudaError_t batch_of_cuda12(void** to, void** from, std::size_t* bytes, std::size_t count,
                            exported::Attributes* attributes, std::size_t* first, std::size_t attribute_count,
                            std::size_t* failed, cudaStream_t) {
  batch_bytes.assign(bytes, bytes + count);
  batch_failed = failed;
  EXPECT_EQ(to[1], batch_bytes.data() + 1);
  EXPECT_EQ(from[0], nullptr);
  EXPECT_EQ(attributes->srcAccessOrder, cudaMemcpySrcAccessOrderStream);
  EXPECT_EQ(*first, 0U);
  EXPECT_EQ(attribute_count, 1U);
  return cudaErrorNotSupported;
}

cudaError_t batch_of_cuda13(void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
                            exported::Attributes* attributes, std::size_t* first, std::size_t attribute_count,
                            cudaStream_t stream) {
  std::size_t failed = 0;
  return batch_of_cuda12(const_cast<void**>(to), const_cast<void**>(from), const_cast<std::size_t*>(bytes), count,
                         attributes, first, attribute_count, &failed, stream);
}

TEST(DeviceCopy, ABatchIsCalledAsEitherCudaDeclaresIt) {
  batch_bytes.assign(2, 0);
  exported::Batch batch({{nullptr, nullptr, 8, 8, 8, 2}, {batch_bytes.data() + 1, nullptr, 4, 4, 4, 5}});
  EXPECT_EQ(exported::call_batch(batch_of_cuda12, batch, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(batch_bytes, (std::vector<std::size_t>{16, 20}));
  EXPECT_NE(batch_failed, nullptr);
  batch_bytes.assign(2, 0);
  EXPECT_EQ(exported::call_batch(batch_of_cuda13, batch, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(batch_bytes, (std::vector<std::size_t>{16, 20}));
}

TEST(DeviceCopy, ABatchIsNotForTheDefaultStreamOrACapture) {
  fake::reset(1);
  char bytes[2] = {1, 2};
  const std::vector<exported::DeviceCopy> copies{{bytes, bytes + 1, 1, 1, 1, 1}};
  EXPECT_EQ(exported::enqueue_batch(copies, cudaStreamLegacy), cudaErrorInvalidValue);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(exported::enqueue_batch(copies, stream), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

/// Kernels that take so many milliseconds of the runtime's clock, or none.
class TimedKernels final : public KernelSource {
 public:
  TimedKernels(std::string name, int milliseconds) : name_(std::move(name)), milliseconds_(milliseconds) {}
  int made = 0;
  cudaError_t fails = cudaSuccess;  ///< at a launch
  bool sticky = false;

  CudaResult<Kernel> make(const Problem& /*problem*/, const std::vector<OperandSet>& /*sets*/, std::size_t /*sample*/,
                          cudaStream_t /*stream*/) override {
    ++made;
    return Kernel{std::make_unique<Timed>(*this), name_};
  }

 private:
  class Timed final : public Launchable {
   public:
    explicit Timed(const TimedKernels& source) : source_(&source) {}
    CudaResult<> launch(std::size_t /*copy*/, cudaStream_t stream) override {
      if (source_->fails != cudaSuccess)
        return tl::unexpected(CudaFailure{source_->fails, "fake", "it was told to", "launching", source_->sticky});
      for (int i = 0; i < source_->milliseconds_; ++i) {
        if (auto ok = check(fake::enqueue(stream, [] {}), "launching"); !ok) return ok;
      }
      return {};
    }

   private:
    const TimedKernels* source_;
  };

  std::string name_;
  int milliseconds_;
};

class ChunkKernelChoice : public ::testing::Test {
 protected:
  ChunkKernelChoice() {
    fake::reset(1);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  ~ChunkKernelChoice() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(fake::counts().live, 0);
  }
  [[nodiscard]] static Problem problem(const std::string& shape) {
    return with_default_strides(parse_shape(shape).value()).value();
  }
  [[nodiscard]] CudaResult<std::string> name(ChunkKernels& kernels, const Problem& of) {
    return kernels.make(of, std::vector<OperandSet>(1), 0, stream_).map([](const KernelSource::Kernel& kernel) {
      return kernel.name;
    });
  }
  [[nodiscard]] ChunkKernels kernels(TimedKernels& library, TimedKernels& built) const {
    return {library,
            built,
            {{guessed_.key(), ChunkKernels::Origin::kGuessed}, {stored_.key(), ChunkKernels::Origin::kStored}}};
  }

  cudaStream_t stream_ = nullptr;
  Problem guessed_ = problem("128x64x64"), stored_ = problem("256x64x64"), other_ = problem("512x64x64");
};

TEST_F(ChunkKernelChoice, AGuessIsTakenWhereItIsFasterAndAStoredKernelAlways) {
  TimedKernels library("library", 5), fast("fast", 3), slow("slow", 8);
  ChunkKernels with_fast = kernels(library, fast), with_slow = kernels(library, slow);
  EXPECT_EQ(name(with_fast, guessed_).value(), "fast");
  EXPECT_EQ(name(with_slow, guessed_).value(), "library");
  EXPECT_EQ(name(with_slow, stored_).value(), "slow");
  EXPECT_EQ(name(with_slow, other_).value(), "library");
  // Once it is known, nothing is timed again.
  const int made = fast.made;
  const int kernels = fake::counts().kernels;
  EXPECT_EQ(name(with_fast, guessed_).value(), "fast");
  EXPECT_EQ(fast.made, made + 1);
  EXPECT_EQ(fake::counts().kernels, kernels);
}

TEST_F(ChunkKernelChoice, AGuessThatTurnsOutWrongIsNotTakenAgain) {
  TimedKernels library("library", 5), fast("fast", 3);
  ChunkKernels chosen = kernels(library, fast);
  ASSERT_EQ(name(chosen, guessed_).value(), "fast");
  chosen.refuse_guess(guessed_);
  chosen.refuse_guess(other_);
  EXPECT_EQ(name(chosen, guessed_).value(), "library");
  EXPECT_EQ(name(chosen, stored_).value(), "fast");
}

TEST_F(ChunkKernelChoice, WhatDoesNotRunIsPassedOverUnlessItTookTheGpu) {
  TimedKernels library("library", 5), built("built", 3);
  built.fails = cudaErrorInvalidValue;
  ChunkKernels first = kernels(library, built);
  EXPECT_EQ(name(first, guessed_).value(), "library");
  EXPECT_EQ(name(first, guessed_).value(), "library");
  built.sticky = true;
  ChunkKernels second = kernels(library, built);
  EXPECT_TRUE(name(second, guessed_).error().sticky);
  built.fails = cudaSuccess;
  library.fails = cudaErrorNotSupported;
  ChunkKernels third = kernels(library, built);
  EXPECT_EQ(name(third, guessed_).value(), "built");
  built.fails = cudaErrorInvalidValue;
  built.sticky = false;
  ChunkKernels fourth = kernels(library, built);
  EXPECT_EQ(name(fourth, guessed_).error().code, cudaErrorInvalidValue);
}

TEST_F(PipelineLoop, ATraceHasASpanForEachOperation) {
  prepare("A,D", false);
  const Candidate candidate{.chunk = 4, .streams = 2, .buffers = 3, .submission = Submission::kGraph};
  auto loaded = load(candidate);
  ASSERT_TRUE(loaded);
  const auto timeline = (*loaded)->trace();
  ASSERT_TRUE(timeline) << timeline.error().message();
  const pipeline::Schedule schedule = make_schedule(streamed_, candidate);
  ASSERT_THAT(timeline->spans, SizeIs(schedule.operations.size()));
  for (std::size_t i = 0; i < timeline->spans.size(); ++i) {
    const pipeline::Span& span = timeline->spans[i];
    EXPECT_EQ(span.step, schedule.operations[i].step);
    EXPECT_LE(span.start_s, span.end_s);
    for (const int need : schedule.operations[i].needs)
      EXPECT_GE(span.start_s, timeline->spans[static_cast<std::size_t>(need)].end_s);
  }
  expect_right(**loaded, "after a trace");
  EXPECT_GT((*loaded)->time_kernel().value(), 0);
  EXPECT_GT((*loaded)->time_step(pipeline::Step::kCopyOut).value(), 0);
  expect_right(**loaded, "after steps alone");
}

TEST_F(PipelineLoop, WhatFailsIsAnErrorAndGivesEverythingBack) {
  for (const HostMemory memory : {HostMemory::kPinned, HostMemory::kStaged}) {
    prepare("A,D", false);
    const Candidate candidate{.chunk = 4, .streams = 2, .buffers = 2, .memory = memory};
    static_cast<void>(host(memory));
    for (const char* call :
         {"cudaMalloc", "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaMemcpyAsync"}) {
      const int before = fake::counts().live;
      fake::fail(call, cudaErrorMemoryAllocation, 1);
      const auto loaded = load(candidate);
      EXPECT_FALSE(loaded) << call;
      EXPECT_EQ(fake::counts().live, before) << call;
      fake::fail(call, cudaSuccess);
    }
    auto loaded = load(candidate);
    ASSERT_TRUE(loaded);
    fake::fail("cudaMemcpyAsync", cudaErrorUnknown, 3);
    pipeline::RunSample sample;
    EXPECT_FALSE((*loaded)->run(sample));
    fake::fail("cudaMemcpyAsync", cudaSuccess);
    expect_right(**loaded, "after a failure");
    resident_ = {};
  }
}

TEST_F(PipelineLoop, RegisteredMemoryLiesOnItsNodeOrSaysThatItCannot) {
  prepare("A,D", false);
  const std::vector<int> nodes = host_nodes();
  if (nodes.empty()) GTEST_SKIP() << "the kernel tells no nodes";
  Candidate candidate{.chunk = 4, .streams = 2, .buffers = 2, .memory = HostMemory::kRegistered};
  for (const int node : nodes) {
    candidate.host_node = node;
    const auto placed = sets_->of({candidate.memory, node}, 0, [](const HostPlace&) {});
    if (!placed) GTEST_SKIP() << "the system refuses, as containers may";
    for (const Matrix matrix : {Matrix::kA, Matrix::kD}) {
      const HostBuffer& buffer = (**placed)[matrix];
      EXPECT_TRUE(lies_on_node(buffer.data(), static_cast<std::size_t>(buffer.bytes()), node));
    }
    auto loaded = load(candidate);
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(&(*loaded)->host(), *placed);
    expect_right(**loaded, candidate.key());
  }
  // Anywhere is another place, with memory of its own.
  EXPECT_NE(&host(HostMemory::kRegistered), &host(HostMemory::kRegistered, nodes.front()));
  const auto nowhere = sets_->of({HostMemory::kRegistered, kMostHostNodes - 1}, 0, [](const HostPlace&) {});
  ASSERT_FALSE(nowhere);
  EXPECT_FALSE(nowhere.error().sticky);
  EXPECT_THAT(nowhere.error().message(), ::testing::HasSubstr("on NUMA node 63"));
}

TEST_F(PipelineLoop, PinnedMemoryStaysBelowTheLimit) {
  prepare("A,D", false);
  const std::int64_t set = streamed_.bytes_in() + streamed_.bytes_out();
  prepare("A,D", false, set + 100);
  std::vector<HostMemory> released;
  const auto release = [&](const HostPlace& place) { released.push_back(place.memory); };
  for (const HostMemory memory : {HostMemory::kPinned, HostMemory::kRegistered, HostMemory::kMapped,
                                  HostMemory::kPageable, HostMemory::kWriteCombined})
    ASSERT_TRUE(sets_->of({memory, {}}, 0, release));
  EXPECT_EQ(released, (std::vector{HostMemory::kPinned, HostMemory::kRegistered, HostMemory::kPinned}));
  ASSERT_TRUE(sets_->of({HostMemory::kStaged, {}}, 200, release));  // its ring needs the room
  EXPECT_EQ(released.back(), HostMemory::kWriteCombined);
  EXPECT_EQ(fake::counts().pinned_bytes, 0);
  EXPECT_LE(fake::counts().most_pinned_bytes, 2 * 4096);  // A and D of one kind, in whole pages
  fake::fail("cudaHostAlloc", cudaErrorMemoryAllocation);
  EXPECT_FALSE(sets_->of({HostMemory::kPinned, {}}, 0, release));
  EXPECT_EQ(fake::counts().pinned_bytes, 0);
}

}  // namespace
}  // namespace pgtune::gpu
