// SPDX-License-Identifier: MIT
// A program that streams A and D of a small product through an exported pipeline, on a runtime of the test's own.
#include <cstdio>

#include "best_pipeline.hpp"
#include "pipeline/tests/fake_runtime.hpp"

int main() {
  using namespace my::pipe;
  Plan plan = kPlan;
  plan.m = 300;  // not a multiple of the chunk
  Pipeline pipeline;
  HostBuffer a, d;
  Status status = pipeline.create(plan);
  if (status == Status::ok) status = pipeline.allocate(Matrix::a, a);
  if (status == Status::ok) status = pipeline.allocate(Matrix::d, d);
  if (status != Status::ok) return std::puts(text(status)), 1;
  auto* const values = static_cast<float*>(a.data());
  for (std::int64_t i = 0; i < plan.m * plan.k; ++i) values[i] = static_cast<float>(i % 5);
  static float b[64 * 64];
  for (int i = 0; i < 64; ++i) b[i * 64 + i] = 2;  // twice A is expected
  status = pipeline.run({a.data(), b, d.data()}, [](const Chunk& chunk, cudaStream_t stream) {
    return pgtune::test::fake_runtime::enqueue(stream, [chunk] {
      for (std::int64_t i = 0; i < chunk.m; ++i) {
        for (std::int64_t j = 0; j < chunk.n; ++j) {
          float sum = 0;
          for (std::int64_t l = 0; l < chunk.k; ++l)
            sum += static_cast<const float*>(chunk.a)[i * chunk.lda + l] *
                   static_cast<const float*>(chunk.b)[l * chunk.ldb + j];
          static_cast<float*>(chunk.d)[i * chunk.ldd + j] = sum;
        }
      }
    });
  });
  if (status != Status::ok) return std::puts(text(status)), 1;
  for (std::int64_t i = 0; i < plan.m * plan.n; ++i) {
    if (static_cast<float*>(d.data())[i] != 2 * values[i]) return std::printf("element %ld is wrong\n", long(i)), 1;
  }
  return 0;
}
