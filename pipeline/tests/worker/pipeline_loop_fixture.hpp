// SPDX-License-Identifier: MIT
// The worker's pipelines on a runtime of the tests' own: operands, kernels that compute on the host, and what is right.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/tests/fake_runtime.hpp"
#include "pipeline/worker/loaded_pipeline.hpp"

namespace pgtune::gpu::test {

namespace fake = pgtune::test::fake_runtime;

inline constexpr pipeline::Limits kRoomy{std::int64_t{1} << 40, std::int64_t{1} << 40};

inline const float* floats(std::uint64_t address) { return reinterpret_cast<const float*>(address); }

/// The product of a chunk when its turn comes, in float.
class HostKernel final : public Launchable {
 public:
  HostKernel(Problem problem, std::vector<OperandSet> sets, int pieces)
      : problem_(problem), sets_(std::move(sets)), pieces_(pieces) {}

  CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    for (int before = 1; before < pieces_; ++before) {
      if (auto ok = check(fake::enqueue(stream, [] {}), "launching"); !ok) return ok;
    }
    return check(fake::enqueue(stream, [this, set = sets_[copy]] { compute(set); }), "launching");
  }

 private:
  void compute(const OperandSet& set) const {
    const Problem& p = problem_;
    auto* const d = reinterpret_cast<float*>(set[Operand::kD].address);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        float sum = p.beta == 0 ? 0 : d[i * p.ldc + j];
        for (std::int64_t l = 0; l < p.k; ++l)
          sum += floats(set[Operand::kA].address)[p.trans_a ? l * p.lda + i : i * p.lda + l] *
                 floats(set[Operand::kB].address)[p.trans_b ? j * p.ldb + l : l * p.ldb + j];
        d[i * p.ldc + j] = sum;
      }
    }
  }

  Problem problem_;
  std::vector<OperandSet> sets_;
  int pieces_;
};

class HostKernels final : public KernelSource {
 public:
  int pieces = 1;  ///< of which a product consists, the last one does it

  CudaResult<Kernel> make(const Problem& problem, const std::vector<OperandSet>& sets, std::size_t /*sample*/,
                          cudaStream_t /*stream*/) override {
    return Kernel{std::make_unique<HostKernel>(problem, sets, pieces), "the host's"};
  }
};

class PipelineLoop : public ::testing::Test {
 protected:
  PipelineLoop() { fake::reset(1); }
  ~PipelineLoop() override {
    resident_ = {};
    sets_.reset();
    EXPECT_EQ(fake::counts().live, 0);
    EXPECT_EQ(fake::counts().pinned_bytes, 0);
  }

  void prepare(const std::string& stream, bool transposed, std::int64_t pinned_limit_bytes = kRoomy.pinned_bytes) {
    Problem problem = parse_shape("22x20x18").value();
    problem.trans_a = problem.trans_b = transposed;
    streamed_ = pipeline::parse_streamed(with_default_strides(problem).value(), stream).value();
    sets_ = std::make_unique<HostOperandSets>(streamed_, pinned_limit_bytes);
    ASSERT_TRUE(sets_->allocate_pageable());
    for (const pipeline::Matrix matrix : pipeline::kMatrices) {
      DeviceBuffer& resident = resident_[pipeline::index_of(matrix)];
      resident = DeviceBuffer::allocate(streamed_.streams(matrix) ? 0 : streamed_.bytes(matrix)).value();
      void* const data = streamed_.streams(matrix) ? sets_->pageable()[matrix].data() : resident.data();
      for (std::int64_t i = 0; i < streamed_.rows(matrix) * streamed_.columns(matrix); ++i)
        static_cast<float*>(data)[i] = matrix == pipeline::Matrix::kD ? NAN : value(matrix, i);
    }
  }

  static float value(pipeline::Matrix matrix, std::int64_t index) {
    return static_cast<float>((index + static_cast<int>(matrix)) % 7 - 3);
  }

  [[nodiscard]] const HostOperands& host(pipeline::HostMemory memory, std::optional<int> node = std::nullopt) {
    return **sets_->of({memory, node}, 0, [](const HostPlace&) {});
  }

  [[nodiscard]] CudaResult<std::unique_ptr<LoadedPipeline>> load(const pipeline::Candidate& candidate) {
    const ResidentOperands addresses{resident_[0].address(), resident_[1].address(), resident_[2].address()};
    return LoadedPipeline::load(streamed_, candidate, host(candidate.memory, candidate.host_node), addresses, kernels_);
  }

  [[nodiscard]] bool is_right(const HostOperands& operands) const {
    const Problem& p = streamed_.problem;
    const float* const d =
        floats(streamed_.d ? operands[pipeline::Matrix::kD].device_address() : resident_[2].address());
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l)
          sum += value(pipeline::Matrix::kA, p.trans_a ? l * p.m + i : i * p.k + l) *
                 value(pipeline::Matrix::kB, p.trans_b ? j * p.k + l : l * p.n + j);
        if (d[i * p.n + j] != sum) return false;
      }
    }
    return true;
  }

  void expect_right(LoadedPipeline& loaded, const std::string& what) {
    HostOperandSets::poison_d(loaded.host(), 0xffffffff);
    for (const DeviceSpan& span : loaded.buffers())
      std::memset(reinterpret_cast<void*>(span.address), 0xff, static_cast<std::size_t>(span.bytes));
    pipeline::RunSample sample;
    ASSERT_TRUE(loaded.run(sample)) << what;
    EXPECT_EQ(sample.runs, 1) << what;
    EXPECT_GT(sample.host_s, 0) << what;
    EXPECT_GT(sample.device_s, 0) << what;
    EXPECT_TRUE(is_right(loaded.host())) << what;
  }

  HostKernels kernels_;
  pipeline::StreamedProblem streamed_;
  std::unique_ptr<HostOperandSets> sets_;
  std::array<DeviceBuffer, 3> resident_;
};

/// Every kind of each property, with each other, of chunks whose last one is smaller.
inline std::vector<pipeline::Candidate> every_kind() {
  std::vector<pipeline::Candidate> out;
  for (const pipeline::Cut cut : {pipeline::Cut::kM, pipeline::Cut::kN, pipeline::Cut::kK}) {
    for (const auto& [memory, word] : enum_table(pipeline::HostMemory{})) {
      for (const auto& [submission, submission_word] : enum_table(pipeline::Submission{})) {
        for (const auto& [use, use_word] : enum_table(pipeline::StreamUse{})) {
          for (const auto& [order, order_word] : enum_table(pipeline::IssueOrder{})) {
            for (const int streams : {1, 2, 3}) {
              for (const int buffers : {1, 2, 4}) {
                for (const int chunk : {4, 22})
                  out.push_back({cut, chunk, use, streams, buffers, order, memory, submission});
              }
            }
          }
        }
      }
    }
  }
  return out;
}

}  // namespace pgtune::gpu::test
