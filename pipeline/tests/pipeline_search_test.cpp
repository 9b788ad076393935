// SPDX-License-Identifier: MIT
#include "pipeline/search/pipeline_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/plan/machine.hpp"
#include "pipeline/tests/simulated_pipeline.hpp"

namespace pgtune::session {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class MemoryStore final : public PipelineStore {
 public:
  std::map<std::string, pipeline::TrialResult> trials() override { return stored; }
  void save_trial(const pipeline::Candidate& candidate, const pipeline::TrialResult& result) override {
    stored[candidate.key()] = result;
  }
  void save_round_sample(const pipeline::Candidate& /*candidate*/, const pipeline::RunSample& /*sample*/) override {
    ++samples;
  }
  std::map<std::string, pipeline::TrialResult> stored;
  int samples = 0;
};

class PipelineSearch : public ::testing::Test {
 protected:
  PipelineSearch() {
    device_.machine.rates = {50e9, 50e9, 45e9, 45e9, 12e9, 12e9, 10e9, 10e9, 20e9, 5e-6, 3e-6};
    Problem problem = parse_shape("8192x4096x4096").value();
    problem.dtype = Dtype::kBf16;
    streamed_ = pipeline::parse_streamed(with_default_strides(problem).value(), "A,D").value();
    options_.pinned_limit_bytes = std::int64_t{1} << 40;
    options_.cut = pipeline::Cut::kM;
    // The workers are balanced: 64 MiB each way in 1.5 ms.
    device_.flops = streamed_.problem.flops() / 1.5e-3;
  }

  Result<PipelineResult> search() { return run_pipeline_search(streamed_, device_, store_, options_, stop_, {}); }

  device::test::SimulatedPipeline device_;
  MemoryStore store_;
  pipeline::StreamedProblem streamed_;
  PipelineOptions options_;
  std::atomic<bool> stop_ = false;
};

TEST_F(PipelineSearch, ChoosesTheNodeOfTheHostWhereThereAreSeveral) {
  device_.far = 1.05;
  const auto elsewhere = search();
  ASSERT_TRUE(elsewhere) << elsewhere.error().text();
  EXPECT_FALSE(elsewhere->answer.best.candidate.host_node);
  for (const std::string& key : device_.asked) EXPECT_EQ(key.find(" n"), std::string::npos) << key;
  device_.host_nodes = {0, 1};
  store_.stored.clear();
  const auto chosen = search();
  ASSERT_TRUE(chosen) << chosen.error().text();
  EXPECT_EQ(chosen->answer.prepared.host_nodes, device_.host_nodes);
  EXPECT_GT(chosen->answer.space, elsewhere->answer.space);
  EXPECT_EQ(chosen->answer.best.candidate.memory, pipeline::HostMemory::kRegistered);
  EXPECT_EQ(chosen->answer.best.candidate.host_node, 1);
}

TEST_F(PipelineSearch, FindsAPipelineNearTheBoundAndSaysWhatEachStepIsWorth) {
  const auto result = search();
  ASSERT_TRUE(result) << result.error().text();
  const PipelineAnswer& answer = result->answer;
  EXPECT_TRUE(result->any_valid);
  EXPECT_TRUE(answer.complete);
  EXPECT_GT(answer.share_of_bound(answer.best), 0.93);
  EXPECT_LE(answer.best.time_s, 1.001 * answer.guess.time_s);
  EXPECT_GT(answer.serial_to_best.ratio, 3);
  EXPECT_LE(answer.serial_to_best.low, answer.serial_to_best.ratio);
  EXPECT_EQ(answer.serial_to_best.pairs, 8);
  EXPECT_EQ(answer.ladder.front().name, "serial loop, pageable");
  EXPECT_TRUE(answer.ladder.front().measured.in_rounds);
  ASSERT_TRUE(answer.timeline);
  EXPECT_FALSE(answer.timeline->spans.empty());
  EXPECT_EQ(answer.timeline->source, pipeline::TimelineSource::kRecords);
  ASSERT_TRUE(answer.steps);
  EXPECT_EQ(answer.rounds, options_.rounds);
  EXPECT_GT(store_.samples, 8 * 8);
  EXPECT_EQ(device_.asked.back(), answer.best.candidate.key());  // checked again, after the rounds
}

TEST_F(PipelineSearch, JudgesKernelsAtThePowerCapByTheClockThatTheyCanHold) {
  device_.cap = 1.2;
  device_.flops /= 3;  // compute-bound
  const auto result = search();
  ASSERT_TRUE(result) << result.error().text();
  const PipelineAnswer& answer = result->answer;
  ASSERT_TRUE(answer.settled && answer.slowdown);
  EXPECT_NEAR(*answer.slowdown, 1.2, 1e-9);
  EXPECT_EQ(answer.settled->extent, answer.bound_chunk);
  EXPECT_EQ(answer.bound.limiter, pipeline::Limiter::kCompute);
  EXPECT_GE(answer.bound.work_s, 1.2 * streamed_.problem.flops() / device_.flops);
  EXPECT_GT(answer.share_of_bound(answer.best), 0.97);  // 0.83 of kernels in short samples
  EXPECT_LE(answer.share_of_bound(answer.best), 1);
  EXPECT_NEAR(answer.guess.expected_s / answer.guess.time_s, 1, 0.03);
  EXPECT_TRUE(answer.best.lead_in_s);
  EXPECT_EQ(answer.rounds, options_.rounds);
  // Those near the best first, settled, then the others.
  EXPECT_EQ(device_.rounds, 2 * options_.rounds);
  for (const auto& round : device_.asked_rounds) {
    const bool serial = std::any_of(round.candidates.begin(), round.candidates.end(), [](const auto& candidate) {
      return candidate.submission == pipeline::Submission::kBlocking;
    });
    EXPECT_EQ(round.settle_s > 0, !serial);
  }
}

TEST_F(PipelineSearch, SettlesTheChunksThatTheCapMakesTheBound) {
  device_.cap = 1.4;
  device_.flops *= 1.4;  // copies are the limit until kernels settle, for chunks of many sizes
  device_.launch_s = 1e-5;
  const auto result = search();
  ASSERT_TRUE(result) << result.error().text();
  const PipelineAnswer& answer = result->answer;
  ASSERT_TRUE(answer.settled && answer.slowdown);
  EXPECT_EQ(answer.bound.limiter, pipeline::Limiter::kCompute);
  EXPECT_EQ(answer.settled->extent, answer.bound_chunk);
}

TEST_F(PipelineSearch, SettlesNothingBelowTheCapOrWhereCopiesAreTheLimit) {
  device_.flops /= 3;
  const auto cool = search();
  ASSERT_TRUE(cool);
  EXPECT_TRUE(cool->answer.settled);
  EXPECT_FALSE(cool->answer.slowdown);
  device_.flops *= 30;
  device_.cap = 1.2;
  store_.stored.clear();
  const auto copying = search();
  ASSERT_TRUE(copying);
  EXPECT_FALSE(copying->answer.settled);
  EXPECT_FALSE(copying->answer.best.lead_in_s);
  for (const auto& round : device_.asked_rounds) EXPECT_EQ(round.settle_s, 0);
}

TEST_F(PipelineSearch, LeavesTheFirstGuessWhereTheMachineIsNotAsModelled) {
  device_.hidden_s = 1e-4;  // chunks cost more than the model knows
  const auto result = search();
  ASSERT_TRUE(result);
  EXPECT_GT(result->answer.best.candidate.chunk, result->answer.guess.candidate.chunk);
  EXPECT_GT(result->answer.guess_to_best.ratio, 1.05);
}

TEST_F(PipelineSearch, BatchesCopiesWhereTheMachineHasThemAndTheyLoseLess) {
  auto& turns = device_.machine.rates.turns.emplace();
  for (const pipeline::Candidate& one : turns_candidates(pipeline::turns_problem(4 << 20), true))
    turns.push_back(
        {one.use, one.streams, one.submission, one.submission == pipeline::Submission::kBatched ? 1e-6 : 5e-5});
  const auto with = search();
  ASSERT_TRUE(with) << with.error().text();
  EXPECT_EQ(with->answer.guess.candidate.submission, pipeline::Submission::kBatched);
  EXPECT_EQ(with->answer.best.candidate.submission, pipeline::Submission::kBatched);
  EXPECT_LE(with->answer.share_of_bound(with->answer.best), 1);
  store_.stored.clear();
  device_.asked.clear();
  device_.batched_copies.reset();
  const auto without = search();
  ASSERT_TRUE(without);
  EXPECT_LT(without->answer.space, with->answer.space);
  EXPECT_THAT(device_.asked, ::testing::Not(Contains(HasSubstr("batched"))));
}

TEST_F(PipelineSearch, WrongCandidatesNeverWin) {
  const auto first = search();
  ASSERT_TRUE(first);
  device_.wrong.insert(first->answer.best.candidate.key());
  store_.stored.clear();
  const auto second = search();
  ASSERT_TRUE(second);
  EXPECT_NE(second->answer.best.candidate, first->answer.best.candidate);
  EXPECT_EQ(store_.stored.at(first->answer.best.candidate.key()).outcome.kind, OutcomeKind::kWrongResult);
}

TEST_F(PipelineSearch, AWinnerThatIsWrongAfterTheRoundsIsOut) {
  device_.fails_later = true;
  const auto result = search();
  ASSERT_TRUE(result);
  EXPECT_THAT(result->answer.notes, Contains(HasSubstr("checked again")));
  const std::string& out = *(device_.asked.rbegin() + 1);  // the first winner, then its replacement
  EXPECT_EQ(store_.stored.at(out).outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_NE(result->answer.best.candidate.key(), out);
}

TEST_F(PipelineSearch, ResumesWithWhatIsStored) {
  ASSERT_TRUE(search());
  const std::size_t trials = device_.asked.size();
  device_.asked.clear();
  ASSERT_TRUE(search());
  EXPECT_EQ(device_.asked.size(), 1U);  // the winner's second check
  EXPECT_GT(trials, 10U);
}

TEST_F(PipelineSearch, ABudgetEndsTheProposalsOnly) {
  options_.budget.trials = 1;
  const auto result = search();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->answer.complete);
  EXPECT_LT(device_.asked.size(), 16U);
}

TEST_F(PipelineSearch, AStopEndsItWithWhatThereIs) {
  stop_ = true;
  const auto result = search();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(result->answer.complete);
  EXPECT_EQ(device_.rounds, 0);
}

TEST_F(PipelineSearch, OfOneKindOfMemoryHasItsRungsAlone) {
  options_.memory = pipeline::HostMemory::kPinned;
  const auto pinned = search();
  ASSERT_TRUE(pinned);
  ASSERT_NE(pinned->answer.serial(), nullptr);
  EXPECT_EQ(pinned->answer.serial()->name, "serial loop, pinned");
  EXPECT_GT(pinned->answer.serial_to_best.ratio, 1);
  for (const pipeline::HostMemory memory : {pipeline::HostMemory::kStaged, pipeline::HostMemory::kMapped}) {
    options_.memory = memory;
    const auto result = search();
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->answer.best.candidate.memory, memory);
    EXPECT_EQ(result->answer.serial(), nullptr);
    EXPECT_EQ(result->answer.serial_to_best.pairs, 0);
  }
}

TEST_F(PipelineSearch, LeavesGuessesOutWhereKernelsFailWithThem) {
  options_.kernels = {{streamed_.problem, {}, false}, {streamed_.problem, {}, true}};
  device_.fails_guesses = true;
  const auto result = search();
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(result->answer.notes,
              ::testing::Contains("guessed kernels were left out: timing kernels: the worker crashed"));
  ASSERT_EQ(device_.prepared_kernels.size(), 2U);
  ASSERT_EQ(device_.prepared_kernels.back().size(), 1U);
  EXPECT_FALSE(device_.prepared_kernels.back().front().guessed);

  device_.fails_kernels = true;
  EXPECT_THAT(search().error().text(), HasSubstr("timing kernels: the worker crashed"));
}

TEST_F(PipelineSearch, SaysWhyNothingIsLegal) {
  options_.pinned_limit_bytes = 1;
  options_.memory = pipeline::HostMemory::kPinned;
  const auto result = search();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(result.error().message, HasSubstr("--pinned-limit"));
}

}  // namespace
}  // namespace pgtune::session
