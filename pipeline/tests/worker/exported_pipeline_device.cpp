// SPDX-License-Identifier: MIT
// The loop of an exported pipeline on a GPU: B is the identity, so that copying rows on the device is the product.
// Exits with 77 where there is no GPU.
#include <cstdio>
#include <cstring>

#include "pipeline/exported/loop.hpp"

namespace {

using namespace pgtune_pipeline;

constexpr std::int64_t kRows = 5000, kColumns = 1024;

bool is_right(const Plan& plan) {
  Pipeline pipeline;
  HostBuffer a, d;
  Status status = pipeline.create(plan);
  if (status == Status::ok) status = pipeline.allocate(Matrix::a, a);
  if (status == Status::ok) status = pipeline.allocate(Matrix::d, d);
  int identity = 0;  // never read
  for (int run = 0; run < 3 && status == Status::ok; ++run) {
    auto* const values = static_cast<std::int32_t*>(a.data());
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) values[i] = static_cast<std::int32_t>(i * 7 + run);
    std::memset(d.data(), 0xff, kRows * kColumns * sizeof(std::int32_t));
    status = pipeline.run({values, &identity, d.data()}, [](const Chunk& chunk, cudaStream_t stream) {
      return cudaMemcpy2DAsync(chunk.d, static_cast<std::size_t>(chunk.ldd) * sizeof(std::int32_t), chunk.a,
                               static_cast<std::size_t>(chunk.lda) * sizeof(std::int32_t),
                               static_cast<std::size_t>(chunk.n) * sizeof(std::int32_t),
                               static_cast<std::size_t>(chunk.m), cudaMemcpyDefault, stream);
    });
    if (status == Status::ok && std::memcmp(values, d.data(), kRows * kColumns * sizeof(std::int32_t)) != 0) {
      std::printf("run %d is wrong\n", run);
      return false;
    }
  }
  if (status != Status::ok) std::printf("%s (CUDA error %d)\n", text(status), pipeline.last_cuda_error());
  return status == Status::ok;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("needs a GPU"), 77;
  Plan plan;
  plan.m = kRows;
  plan.n = plan.k = kColumns;
  plan.bytes_a = plan.bytes_b = plan.bytes_d = sizeof(std::int32_t);
  plan.streams_a = plan.streams_d = true;
  plan.chunk = 384;
  int wrong = 0;
  for (const Memory memory :
       {Memory::pageable, Memory::pinned, Memory::registered, Memory::write_combined, Memory::staged, Memory::mapped}) {
    for (const StreamUse use :
         {StreamUse::per_chunk, StreamUse::lanes, StreamUse::one_copy_lane, StreamUse::default_stream}) {
      for (const Submission submission :
           {Submission::blocking, Submission::loop, Submission::graph, Submission::batched}) {
        const bool shared = use == StreamUse::per_chunk || use == StreamUse::default_stream;
        const bool by_itself = memory != Memory::pageable && memory != Memory::staged;
        if (submission == Submission::batched && !by_itself) continue;
        if (submission == Submission::graph && (!by_itself || use == StreamUse::default_stream)) continue;
        plan.memory = memory;
        plan.use = use;
        plan.submission = submission;
        plan.streams = shared ? 3 : 1;
        plan.buffers = 4;
        plan.breadth_first =
            submission == Submission::loop ? shared : submission == Submission::batched && use == StreamUse::lanes;
        if (is_right(plan)) continue;
        ++wrong;
        std::printf("memory %d, use %d, submission %d\n", static_cast<int>(memory), static_cast<int>(use),
                    static_cast<int>(submission));
      }
    }
  }
  return wrong;
}
