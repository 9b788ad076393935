// SPDX-License-Identifier: MIT
// The functions that stand before cuBLAS's. Each exists twice, for cuBLAS 12 and 13, under that library's version node
// (nodes.map): a program bound to one is forwarded to that one. The versions are hidden ("@", not "@@"), and the
// library's own node comes first, so that a program bound to neither is left alone.
#include "preload/shim/decode.hpp"
#include "preload/shim/graphs.hpp"
#include "preload/shim/ledger.hpp"
#include "preload/shim/real.hpp"
#include "preload/shim/sampler.hpp"
#include "preload/shim/serve.hpp"

namespace pgtune::preload {
namespace {

/// cuBLAS calls itself and cublasLt through these functions.
__attribute__((tls_model("initial-exec"))) thread_local int depth = 0;

/// One call: recorded, and answered where a kernel is there for it. Otherwise the caller makes it in its lifetime.
class Recorded {
 public:
  Recorded(Major major, const BlasArguments& call) {
    if (!begin(major)) return;
    Key key = key_of(major, call);
    void* const d = const_cast<void*>(call.c);
    record(key,
           {{call.b, call.a, call.c, nullptr, d, key.beta}, workspace_of(call.handle), stream_of(major, call.handle)});
  }
  Recorded(Major major, const LtArguments& call, Workspace workspace, Stream stream) {
    if (!begin(major)) return;
    Key key = key_of(major, call);
    const void* const bias = (key.epilogue & kLtBias) != 0 ? bias_of(major, call) : nullptr;
    record(key, {{call.b, call.a, call.c, bias, call.d, key.beta}, workspace, stream});
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    end_sample(sample_, stream_, status_ == kSuccess);
    // What cuBLAS refuses is no call to be tuned. Serving has counted it by its reason.
    if (slot_ != nullptr && (status_ == kSuccess || serving())) count();
    finish(check_, status_);
    --depth;
  }
  [[nodiscard]] bool answered() const { return answered_; }
  /// What the call returns: the answer's status, or that of cuBLAS.
  [[nodiscard]] int status() const { return status_; }
  void set_status(int status) { status_ = status; }

 private:
  static bool begin(Major major) {
    mark_called(major);
    return ++depth == 1 && recording();
  }

  void count() {
    if (!captured_) {
      add(slot_->calls, std::uint64_t{1});
    } else {
      add(slot_->captured_calls, std::uint64_t{1});
      add_to_graph(capture_, *slot_);
    }
  }

  void record(Key& key, Given given) {
    const int device = serving() ? current_device() : 0;
    given.has_context = device >= 0;
    if (given.has_context) key.device = static_cast<std::uint8_t>(device);
    Slot* const slot = slot_of(key);
    if (slot == nullptr) return;
    stream_ = given.stream;
    slot_ = slot;
    given.captured = captured_ = is_capturing(stream_, capture_);
    if (!captured_) {
      const std::uint64_t number = __atomic_load_n(&slot->calls, __ATOMIC_RELAXED) + 1;
      constexpr std::uint64_t kCallsBetweenCollections = 8;
      if (number % kCallsBetweenCollections == 0) collect_samples();
      const bool power_of_two = (number & (number - 1)) == 0;
      if (number > 1 && power_of_two) sample_ = begin_sample(*slot, stream_);
    }
    if (serving()) answered_ = serve(*slot, given, check_, status_);
  }

  Check check_;
  int sample_ = -1, status_ = kSuccess;
  bool answered_ = false, captured_ = false;
  Stream stream_ = nullptr;
  Slot* slot_ = nullptr;  ///< null: not recorded
  Capture capture_;
};

}  // namespace

// ENTRY(LIBRARY, NAME, PARAMETERS, BODY...): NAME for both majors. BODY has the library's own function as `real`.
#define ENTRY(LIBRARY, NAME, PARAMETERS, ...)          \
  ENTRY_OF(12, LIBRARY, NAME, PARAMETERS, __VA_ARGS__) \
  ENTRY_OF(13, LIBRARY, NAME, PARAMETERS, __VA_ARGS__)
#define ENTRY_OF(MAJOR, LIBRARY, NAME, PARAMETERS, ...)                                     \
  extern "C" __attribute__((visibility("default"))) int pgtune_##MAJOR##_##NAME PARAMETERS; \
  int pgtune_##MAJOR##_##NAME PARAMETERS {                                                  \
    static constinit RealFunction function("lib" #LIBRARY ".so." #MAJOR, #NAME);            \
    auto* const real = function.get<int PARAMETERS>();                                      \
    if (real == nullptr) return kNotInitialized;                                            \
    [[maybe_unused]] constexpr Major major = Major::k##MAJOR;                               \
    __VA_ARGS__                                                                             \
  }                                                                                         \
  asm(".symver pgtune_" #MAJOR "_" #NAME ", " #NAME "@lib" #LIBRARY ".so." #MAJOR);

// Recorded, and perhaps answered: WHAT follows the major in Recorded's constructor.
#define RECORDED_ENTRY(LIBRARY, NAME, PARAMETERS, ARGUMENTS, ...)         \
  ENTRY(LIBRARY, NAME, PARAMETERS, Recorded recorded(major, __VA_ARGS__); \
        if (!recorded.answered()) recorded.set_status(real ARGUMENTS); return recorded.status();)

// THEN is done where the library's function succeeds.
#define AFTER_ENTRY(LIBRARY, NAME, PARAMETERS, ARGUMENTS, THEN)                                                    \
  ENTRY(LIBRARY, NAME, PARAMETERS, const int status = real ARGUMENTS; if (recording() && status == kSuccess) THEN; \
        return status;)

#define BLAS_ENTRY(NAME, PARAMETERS, ARGUMENTS, ...) \
  RECORDED_ENTRY(cublas, NAME, PARAMETERS, ARGUMENTS, BlasArguments{__VA_ARGS__})

// Sizes of 32 and of 64 bits.
#define OF_BOTH(MACRO, NAME, ...) \
  MACRO(NAME, int __VA_OPT__(, ) __VA_ARGS__) MACRO(NAME##_64, std::int64_t __VA_OPT__(, ) __VA_ARGS__)

#define ARGUMENTS_OF_ALL                                                                                              \
  .handle = handle, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .a = a, .b = b, \
  .c = c

// cublas?gemm.
#define GEMM(NAME, INT, CALL, TYPE, COMPUTE)                                                                     \
  BLAS_ENTRY(NAME,                                                                                               \
             (Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, const void* a, INT lda, \
              const void* b, INT ldb, const void* beta, void* c, INT ldc),                                       \
             (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), .call = CALL, ARGUMENTS_OF_ALL, \
             .type_a = TYPE, .type_b = TYPE, .type_c = TYPE, .compute = COMPUTE, .lda = lda, .ldb = ldb, .ldc = ldc)
OF_BOTH(GEMM, cublasSgemm_v2, Call::kSgemm, kR32F, kCompute32F)
OF_BOTH(GEMM, cublasDgemm_v2, Call::kDgemm, kR64F, kCompute64F)
OF_BOTH(GEMM, cublasCgemm_v2, Call::kCgemm, kC32F, kCompute32F)
OF_BOTH(GEMM, cublasZgemm_v2, Call::kZgemm, kC64F, kCompute64F)
OF_BOTH(GEMM, cublasHgemm, Call::kHgemm, kR16F, kCompute16F)

#define GEMM_EX(NAME, INT)                                                                                            \
  BLAS_ENTRY(                                                                                                         \
      NAME,                                                                                                           \
      (Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, const void* a, int type_a, INT lda, \
       const void* b, int type_b, INT ldb, const void* beta, void* c, int type_c, INT ldc, int compute, int algo),    \
      (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute, algo),      \
      .call = Call::kGemmEx, ARGUMENTS_OF_ALL, .type_a = type_a, .type_b = type_b, .type_c = type_c,                  \
      .compute = compute, .lda = lda, .ldb = ldb, .ldc = ldc)
OF_BOTH(GEMM_EX, cublasGemmEx)

#define SGEMM_EX(NAME, INT)                                                                                         \
  BLAS_ENTRY(NAME,                                                                                                  \
             (Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, const void* a, int type_a, \
              INT lda, const void* b, int type_b, INT ldb, const void* beta, void* c, int type_c, INT ldc),         \
             (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc),            \
             .call = Call::kGemmEx, ARGUMENTS_OF_ALL, .type_a = type_a, .type_b = type_b, .type_c = type_c,         \
             .lda = lda, .ldb = ldb, .ldc = ldc)
OF_BOTH(SGEMM_EX, cublasSgemmEx)

#define STRIDED(NAME, INT, CALL, TYPE, COMPUTE)                                                                       \
  BLAS_ENTRY(NAME,                                                                                                    \
             (Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, const void* a, INT lda,      \
              long long stride_a, const void* b, INT ldb, long long stride_b, const void* beta, void* c, INT ldc,     \
              long long stride_c, INT batch),                                                                         \
             (handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch), \
             .call = CALL, ARGUMENTS_OF_ALL, .type_a = TYPE, .type_b = TYPE, .type_c = TYPE, .compute = COMPUTE,      \
             .lda = lda, .ldb = ldb, .ldc = ldc, .stride_a = stride_a, .stride_b = stride_b, .stride_c = stride_c,    \
             .batch = batch)
OF_BOTH(STRIDED, cublasSgemmStridedBatched, Call::kSgemmStridedBatched, kR32F, kCompute32F)
OF_BOTH(STRIDED, cublasDgemmStridedBatched, Call::kStridedBatched, kR64F, kCompute64F)
OF_BOTH(STRIDED, cublasCgemmStridedBatched, Call::kStridedBatched, kC32F, kCompute32F)
OF_BOTH(STRIDED, cublasZgemmStridedBatched, Call::kStridedBatched, kC64F, kCompute64F)
OF_BOTH(STRIDED, cublasHgemmStridedBatched, Call::kStridedBatched, kR16F, kCompute16F)

#define STRIDED_EX(NAME, INT)                                                                                          \
  BLAS_ENTRY(NAME,                                                                                                     \
             (Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, const void* a, int type_a,    \
              INT lda, long long stride_a, const void* b, int type_b, INT ldb, long long stride_b, const void* beta,   \
              void* c, int type_c, INT ldc, long long stride_c, INT batch, int compute, int algo),                     \
             (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c, \
              ldc, stride_c, batch, compute, algo),                                                                    \
             .call = Call::kGemmStridedBatchedEx, ARGUMENTS_OF_ALL, .type_a = type_a, .type_b = type_b,                \
             .type_c = type_c, .compute = compute, .lda = lda, .ldb = ldb, .ldc = ldc, .stride_a = stride_a,           \
             .stride_b = stride_b, .stride_c = stride_c, .batch = batch)
OF_BOTH(STRIDED_EX, cublasGemmStridedBatchedEx)

// Pointers of each matrix: recorded, though pgtune has no such problem.
#define BATCHED(NAME, INT, TYPE, COMPUTE)                                                                        \
  BLAS_ENTRY(NAME,                                                                                               \
             (Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, const void* a, INT lda, \
              const void* b, INT ldb, const void* beta, const void* c, INT ldc, INT batch),                      \
             (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch), .call = Call::kBatched,  \
             ARGUMENTS_OF_ALL, .type_a = TYPE, .type_b = TYPE, .type_c = TYPE, .compute = COMPUTE, .lda = lda,   \
             .ldb = ldb, .ldc = ldc, .batch = batch)
OF_BOTH(BATCHED, cublasSgemmBatched, kR32F, kCompute32F)
OF_BOTH(BATCHED, cublasDgemmBatched, kR64F, kCompute64F)
OF_BOTH(BATCHED, cublasCgemmBatched, kC32F, kCompute32F)
OF_BOTH(BATCHED, cublasZgemmBatched, kC64F, kCompute64F)
OF_BOTH(BATCHED, cublasHgemmBatched, kR16F, kCompute16F)

#define BATCHED_EX(NAME, INT)                                                                                       \
  BLAS_ENTRY(NAME,                                                                                                  \
             (Handle handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, const void* a, int type_a, \
              INT lda, const void* b, int type_b, INT ldb, const void* beta, const void* c, int type_c, INT ldc,    \
              INT batch, int compute, int algo),                                                                    \
             (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, batch,      \
              compute, algo),                                                                                       \
             .call = Call::kBatched, ARGUMENTS_OF_ALL, .type_a = type_a, .type_b = type_b, .type_c = type_c,        \
             .compute = compute, .lda = lda, .ldb = ldb, .ldc = ldc, .batch = batch)
OF_BOTH(BATCHED_EX, cublasGemmBatchedEx)

// Many shapes in one call: only counted.
#define GROUPED(NAME, INT, TYPE, COMPUTE)                                                                          \
  BLAS_ENTRY(NAME,                                                                                                 \
             (Handle handle, const void* op_a, const void* op_b, const void* m, const void* n, const void* k,      \
              const void* alpha, const void* a, const void* lda, const void* b, const void* ldb, const void* beta, \
              const void* c, const void* ldc, INT groups, const void* sizes),                                      \
             (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes),                    \
             .call = Call::kGrouped, .handle = handle, .type_a = TYPE, .type_b = TYPE, .type_c = TYPE,             \
             .compute = COMPUTE, .batch = groups)
OF_BOTH(GROUPED, cublasSgemmGroupedBatched, kR32F, kCompute32F)
OF_BOTH(GROUPED, cublasDgemmGroupedBatched, kR64F, kCompute64F)

#define GROUPED_EX(NAME, INT)                                                                                     \
  BLAS_ENTRY(                                                                                                     \
      NAME,                                                                                                       \
      (Handle handle, const void* op_a, const void* op_b, const void* m, const void* n, const void* k,            \
       const void* alpha, const void* a, int type_a, const void* lda, const void* b, int type_b, const void* ldb, \
       const void* beta, const void* c, int type_c, const void* ldc, INT groups, const void* sizes, int compute), \
      (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, groups, sizes,   \
       compute),                                                                                                  \
      .call = Call::kGrouped, .handle = handle, .type_a = type_a, .type_b = type_b, .type_c = type_c,             \
      .compute = compute, .batch = groups)
OF_BOTH(GROUPED_EX, cublasGemmGroupedBatchedEx)

RECORDED_ENTRY(cublasLt, cublasLtMatmul,
               (Handle handle, const void* desc, const void* alpha, const void* a, const void* a_layout, const void* b,
                const void* b_layout, const void* beta, const void* c, const void* c_layout, void* d,
                const void* d_layout, const void* algo, void* workspace, std::size_t workspace_bytes, Stream stream),
               (handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algo, workspace,
                workspace_bytes, stream),
               LtArguments{desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout},
               Workspace{workspace, workspace_bytes}, stream)

// What a program gives to its handles. cublasSetStream goes back to cuBLAS's own workspace.
AFTER_ENTRY(cublas, cublasCreate_v2, (Handle * handle), (handle), (mark_called(major), set_workspace(*handle, {})))
AFTER_ENTRY(cublas, cublasDestroy_v2, (Handle handle), (handle), set_workspace(handle, {}))
AFTER_ENTRY(cublas, cublasSetStream_v2, (Handle handle, Stream stream), (handle, stream), set_workspace(handle, {}))
AFTER_ENTRY(cublas, cublasSetWorkspace_v2, (Handle handle, void* workspace, std::size_t bytes),
            (handle, workspace, bytes), set_workspace(handle, {workspace, bytes}))

// Graphs: `executable` is a cudaGraphExec_t, `graph` a cudaGraph_t.
AFTER_ENTRY(cudart, cudaGraphInstantiate, (void** executable, void* graph, unsigned long long flags),
            (executable, graph, flags), instantiate(*executable, graph))
AFTER_ENTRY(cudart, cudaGraphInstantiateWithFlags, (void** executable, void* graph, unsigned long long flags),
            (executable, graph, flags), instantiate(*executable, graph))
AFTER_ENTRY(cudart, cudaGraphInstantiateWithParams, (void** executable, void* graph, void* parameters),
            (executable, graph, parameters), instantiate(*executable, graph))
AFTER_ENTRY(cudart, cudaGraphInstantiateWithParams_ptsz, (void** executable, void* graph, void* parameters),
            (executable, graph, parameters), instantiate(*executable, graph))
AFTER_ENTRY(cudart, cudaGraphExecUpdate, (void* executable, void* graph, void* result), (executable, graph, result),
            instantiate(executable, graph))
AFTER_ENTRY(cudart, cudaGraphDestroy, (void* graph), (graph), forget_graph(graph))
AFTER_ENTRY(cudart, cudaGraphLaunch, (void* executable, Stream stream), (executable, stream), launch(executable))
AFTER_ENTRY(cudart, cudaGraphLaunch_ptsz, (void* executable, Stream stream), (executable, stream), launch(executable))

}  // namespace pgtune::preload
