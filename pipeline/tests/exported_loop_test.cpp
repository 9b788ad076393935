// SPDX-License-Identifier: MIT
// The loop of an exported pipeline, on a runtime that runs things as late and as mixed up as streams allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "pipeline/exported/loop.hpp"
#include "pipeline/tests/fake_runtime.hpp"

namespace pgtune::test {
namespace {

using namespace pgtune_pipeline;

/// An element whose value says where it is.
float value(std::int64_t index) { return static_cast<float>(index % 7 - 3); }

/// A small product in host memory, its operands allocated as the plan wants them.
class Product {
 public:
  Product(const Plan& plan, Pipeline& pipeline) : plan_(plan) {
    for (const Matrix matrix : detail::kMatrices) {
      HostBuffer& buffer = buffers_[static_cast<int>(matrix)];
      EXPECT_EQ(pipeline.allocate(matrix, buffer), Status::ok);
      const std::int64_t count = detail::rows(plan, matrix) * detail::columns(plan, matrix);
      for (std::int64_t i = 0; i < count; ++i)
        static_cast<float*>(buffer.data())[i] = matrix == Matrix::d ? NAN : value(i + static_cast<int>(matrix));
    }
  }
  [[nodiscard]] Operands operands() const { return {buffers_[0].data(), buffers_[1].data(), buffers_[2].data()}; }
  void forget_result() { std::fill_n(static_cast<float*>(buffers_[2].data()), plan_.m * plan_.n, NAN); }
  [[nodiscard]] bool is_right() const {
    const auto* const d = static_cast<const float*>(buffers_[2].data());
    for (std::int64_t i = 0; i < plan_.m; ++i) {
      for (std::int64_t j = 0; j < plan_.n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < plan_.k; ++l)
          sum += value(plan_.transposed_a ? l * plan_.m + i : i * plan_.k + l) *
                 value((plan_.transposed_b ? j * plan_.k + l : l * plan_.n + j) + 1);
        if (d[i * plan_.n + j] != sum) return false;
      }
    }
    return true;
  }

 private:
  Plan plan_;
  HostBuffer buffers_[3];
};

/// The caller's kernel: the product of a chunk, when its turn comes.
auto kernel_of(const Plan& plan) {
  return [plan](const Chunk& c, cudaStream_t stream) {
    return fake_runtime::enqueue(stream, [=] {
      const auto* const a = static_cast<const float*>(c.a);
      const auto* const b = static_cast<const float*>(c.b);
      auto* const d = static_cast<float*>(c.d);
      for (std::int64_t i = 0; i < c.m; ++i) {
        for (std::int64_t j = 0; j < c.n; ++j) {
          float sum = c.accumulate ? d[i * c.ldd + j] : 0;
          for (std::int64_t l = 0; l < c.k; ++l)
            sum += a[plan.transposed_a ? l * c.lda + i : i * c.lda + l] *
                   b[plan.transposed_b ? j * c.ldb + l : l * c.ldb + j];
          d[i * c.ldd + j] = sum;
        }
      }
    });
  };
}

Plan plan_of(Cut cut, Memory memory, StreamUse use, int streams, int buffers, bool breadth, Submission submission) {
  Plan plan;
  plan.m = 22;
  plan.n = 20;
  plan.k = 18;
  plan.bytes_a = plan.bytes_b = plan.bytes_d = 4;
  plan.streams_a = plan.streams_b = plan.streams_d = true;
  plan.cut = cut;
  plan.chunk = 4;  // the last chunk is smaller
  plan.use = use;
  plan.streams = streams;
  plan.buffers = buffers;
  plan.breadth_first = breadth;
  plan.memory = memory;
  plan.submission = submission;
  return plan;
}

/// Every kind of each property, with each other.
std::vector<Plan> plans() {
  struct Shape {
    StreamUse use;
    int streams, buffers;
    bool breadth;
  };
  const std::vector<Shape> shapes{{StreamUse::per_chunk, 1, 1, false},      {StreamUse::per_chunk, 2, 2, false},
                                  {StreamUse::per_chunk, 3, 4, true},       {StreamUse::lanes, 1, 1, false},
                                  {StreamUse::lanes, 1, 3, false},          {StreamUse::one_copy_lane, 1, 2, false},
                                  {StreamUse::default_stream, 2, 3, false}, {StreamUse::lanes, 1, 4, true}};
  std::vector<Plan> plans;
  for (const Cut cut : {Cut::m, Cut::n, Cut::k}) {
    for (const Memory memory : {Memory::pageable, Memory::pinned, Memory::registered, Memory::write_combined,
                                Memory::staged, Memory::mapped}) {
      for (const Shape& shape : shapes) {
        for (const Submission submission :
             {Submission::blocking, Submission::loop, Submission::graph, Submission::batched}) {
          const bool by_itself = memory != Memory::pageable && memory != Memory::staged;
          if (submission == Submission::batched && !by_itself) continue;
          if (submission == Submission::graph && (!by_itself || shape.use == StreamUse::default_stream)) continue;
          plans.push_back(plan_of(cut, memory, shape.use, shape.streams, shape.buffers, shape.breadth, submission));
        }
      }
    }
  }
  return plans;
}

std::string name(const Plan& plan) {
  return ::testing::PrintToString(std::array{static_cast<int>(plan.cut), static_cast<int>(plan.memory),
                                             static_cast<int>(plan.use), plan.streams, plan.buffers,
                                             static_cast<int>(plan.breadth_first), static_cast<int>(plan.submission)});
}

class ExportedLoop : public ::testing::Test {
 protected:
  ExportedLoop() { fake_runtime::reset(1); }
  ~ExportedLoop() override {
    EXPECT_EQ(fake_runtime::counts().live, 0);
    EXPECT_EQ(fake_runtime::counts().pinned_bytes, 0);
  }
};

TEST_F(ExportedLoop, RegisteredMemoryOfANodeIsGivenBackAndOfNoneIsOrdinary) {
  Plan plan = plan_of(Cut::m, Memory::registered, StreamUse::per_chunk, 2, 2, false, Submission::loop);
  for (const int node : {0, 63, 1000}) {  // a node that is not there is passed over
    plan.host_node = node;
    Pipeline pipeline;
    ASSERT_EQ(pipeline.create(plan), Status::ok) << node;
    Product product(plan, pipeline);
    EXPECT_GT(fake_runtime::counts().pinned_bytes, 0);
    product.forget_result();
    ASSERT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::ok) << node;
    EXPECT_TRUE(product.is_right()) << node;
    HostBuffer first, second;
    ASSERT_EQ(pipeline.allocate(Matrix::a, first), Status::ok);
    second = std::move(first);
    const HostBuffer third(std::move(second));
    EXPECT_NE(third.data(), nullptr);
  }
}

TEST_F(ExportedLoop, EveryPlanIsRightWhateverTheOrder) {
  std::uint64_t seed = 0;
  for (Plan plan : plans()) {
    fake_runtime::reset(++seed);
    plan.transposed_a = seed % 2 == 0;
    plan.transposed_b = seed % 3 == 0;
    Pipeline pipeline;
    ASSERT_EQ(pipeline.create(plan), Status::ok) << name(plan);
    Product product(plan, pipeline);
    for (int run = 0; run < 2; ++run) {
      product.forget_result();
      ASSERT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::ok) << name(plan);
      EXPECT_TRUE(product.is_right()) << name(plan) << " seed " << seed << " run " << run;
    }
    EXPECT_EQ(fake_runtime::counts().without_capture, 0) << name(plan);
    EXPECT_EQ(fake_runtime::counts().launched_graphs, plan.submission == Submission::graph ? 2 : 0);
  }
}

TEST_F(ExportedLoop, CopiesOfAGroupAreOneCall) {
  Plan plan = plan_of(Cut::m, Memory::pinned, StreamUse::lanes, 1, 4, true, Submission::batched);
  plan.streams_b = false;
  Pipeline pipeline;
  ASSERT_EQ(pipeline.create(plan), Status::ok);
  Product product(plan, pipeline);
  fake_runtime::fail("cudaMemcpyBatchAsync", cudaErrorUnknown, 1);
  EXPECT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::cuda_error);
  fake_runtime::fail("cudaMemcpyBatchAsync", cudaSuccess);
  const fake_runtime::Counts before = fake_runtime::counts();
  ASSERT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::ok);
  EXPECT_TRUE(product.is_right());
  EXPECT_EQ(fake_runtime::counts().batches - before.batches, 2 * 3);  // six chunks
  EXPECT_EQ(fake_runtime::counts().copies - before.copies, 2 * 6);
}

TEST_F(ExportedLoop, OperandsThatStayAreTheDevices) {
  Plan plan = plan_of(Cut::m, Memory::pinned, StreamUse::lanes, 1, 2, false, Submission::loop);
  plan.streams_b = plan.streams_d = false;
  Pipeline pipeline;
  ASSERT_EQ(pipeline.create(plan), Status::ok);
  Product product(plan, pipeline);
  ASSERT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::ok);
  EXPECT_TRUE(product.is_right());
  EXPECT_EQ(fake_runtime::counts().copies, 6);  // of A's chunks alone
}

TEST_F(ExportedLoop, AnotherExtentOfTheCutIsServed) {
  Plan plan = plan_of(Cut::m, Memory::staged, StreamUse::per_chunk, 2, 2, false, Submission::loop);
  plan.m = 3;  // less than a chunk
  Pipeline pipeline;
  ASSERT_EQ(pipeline.create(plan), Status::ok);
  Product product(plan, pipeline);
  ASSERT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::ok);
  EXPECT_TRUE(product.is_right());
}

TEST_F(ExportedLoop, AGraphIsCapturedAgainForOtherOperands) {
  const Plan plan = plan_of(Cut::m, Memory::pinned, StreamUse::per_chunk, 2, 2, false, Submission::graph);
  Pipeline pipeline;
  ASSERT_EQ(pipeline.create(plan), Status::ok);
  Product one(plan, pipeline), other(plan, pipeline);
  int calls = 0;
  const auto kernel = [&](const Chunk& chunk, cudaStream_t stream) {
    ++calls;
    return kernel_of(plan)(chunk, stream);
  };
  for (const Product* product : {&one, &one, &other}) ASSERT_EQ(pipeline.run(product->operands(), kernel), Status::ok);
  EXPECT_TRUE(one.is_right() && other.is_right());
  EXPECT_EQ(calls, 2 * 6);
  pipeline.forget_graph();
  ASSERT_EQ(pipeline.run(other.operands(), kernel), Status::ok);
  EXPECT_EQ(calls, 3 * 6);
}

TEST_F(ExportedLoop, WhatFailsIsACodeAndGivesEverythingBack) {
  for (const Memory memory : {Memory::pinned, Memory::staged}) {
    const Plan plan = plan_of(Cut::m, memory, StreamUse::per_chunk, 2, 2, false, Submission::loop);
    const auto try_run = [&](int after) {
      fake_runtime::fail("cudaMemcpyAsync", cudaErrorUnknown, after);
      Pipeline pipeline;
      EXPECT_EQ(pipeline.create(plan), Status::ok);
      Product product(plan, pipeline);
      EXPECT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::cuda_error) << after;
      EXPECT_EQ(pipeline.last_cuda_error(), cudaErrorUnknown);
      fake_runtime::fail("cudaMemcpyAsync", cudaSuccess);
      EXPECT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::ok);
      EXPECT_TRUE(product.is_right());
    };
    for (const int after : {0, 1, 5}) try_run(after);
  }
  for (const char* call : {"cudaMalloc", "cudaHostAlloc", "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags"}) {
    fake_runtime::reset(1);
    fake_runtime::fail(call, cudaErrorMemoryAllocation, 1);
    Pipeline pipeline;
    const Plan plan = plan_of(Cut::m, Memory::staged, StreamUse::lanes, 1, 3, false, Submission::loop);
    EXPECT_NE(pipeline.create(plan), Status::ok) << call;
    EXPECT_EQ(fake_runtime::counts().live, 0) << call;
  }
}

TEST_F(ExportedLoop, AKernelThatFailsOrThrowsIsTold) {
  for (const Submission submission : {Submission::loop, Submission::graph}) {
    const Plan plan = plan_of(Cut::m, Memory::pinned, StreamUse::per_chunk, 2, 2, false, submission);
    Pipeline pipeline;
    ASSERT_EQ(pipeline.create(plan), Status::ok);
    Product product(plan, pipeline);
    EXPECT_EQ(pipeline.run(product.operands(), [](const Chunk&, cudaStream_t) { return cudaErrorLaunchFailure; }),
              Status::kernel_failed);
    EXPECT_EQ(pipeline.last_cuda_error(), cudaErrorLaunchFailure);
    const auto throws = [](const Chunk&, cudaStream_t) -> cudaError_t { throw std::runtime_error("no"); };
    EXPECT_EQ(pipeline.run(product.operands(), throws), Status::kernel_failed);
    EXPECT_EQ(pipeline.run(product.operands(), kernel_of(plan)), Status::ok);
    EXPECT_TRUE(product.is_right());
  }
}

TEST_F(ExportedLoop, WrongUseIsRefused) {
  Pipeline pipeline;
  EXPECT_EQ(pipeline.run({}, [](const Chunk&, cudaStream_t) { return cudaSuccess; }), Status::invalid_argument);
  const Plan good = plan_of(Cut::m, Memory::pinned, StreamUse::per_chunk, 2, 2, false, Submission::loop);
  const auto refused = [&](auto change) {
    Plan plan = good;
    change(plan);
    EXPECT_EQ(pipeline.create(plan), Status::invalid_argument);
  };
  refused([](Plan& plan) { plan.chunk = 0; });
  refused([](Plan& plan) { plan.k = 0; });
  refused([](Plan& plan) { plan.buffers = 1; });
  refused([](Plan& plan) { plan.streams = 0; });
  refused([](Plan& plan) { plan.use = StreamUse::lanes; });
  refused([](Plan& plan) { plan.bytes_d = 0; });
  refused([](Plan& plan) {
    plan.submission = Submission::graph;
    plan.memory = Memory::pageable;
  });
  refused([](Plan& plan) {
    plan.submission = Submission::batched;
    plan.memory = Memory::staged;
  });
  refused([](Plan& plan) {
    plan.use = StreamUse::lanes;
    plan.streams = plan.buffers = 1;
    plan.breadth_first = true;
  });
  ASSERT_EQ(pipeline.create(good), Status::ok);
  EXPECT_EQ(pipeline.run({}, [](const Chunk&, cudaStream_t) { return cudaSuccess; }), Status::invalid_argument);
}

}  // namespace
}  // namespace pgtune::test
