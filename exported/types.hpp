// SPDX-License-Identifier: MIT
// What a program sees of an exported header: problems, operands, choices, status codes. Type, Element and Activation
// are written before it from pgtune's own tables.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace pgtune_export {

/// What a call says; nothing was launched unless it is ok or cuda_error.
enum class Status {
  ok,
  invalid_argument,     ///< null pointer, extent below 1, leading dimension or stride too small, unknown word
  not_supported,        ///< no kernel here serves the problem, and there is no fallback
  misaligned,           ///< a pointer is aligned to less than 16 bytes, or to less than when the kernel was selected
  workspace_too_small,  ///< less than workspace_bytes(), null, or not aligned to 256 bytes
  not_prepared,         ///< prepare() was not called for the device, or not in this context
  no_driver,            ///< there is no CUDA driver or no device
  driver_too_old,       ///< it cannot load kernels of the compiler these were made with
  wrong_device,         ///< no kernel here was compiled for the device, or the stream is of another one
  cuda_error,           ///< the driver refused a call: last_cuda_error() has its number
  not_compiled,         ///< of a header with sources: NVRTC is not there, or compiles none of them
};

/// A sentence for people.
inline const char* text(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "done";
    case Status::invalid_argument:
      return "an argument is wrong: a null pointer, an extent below 1, a leading dimension or stride too small";
    case Status::not_supported:
      return "no kernel of this header serves the problem, and no fallback was given";
    case Status::misaligned:
      return "a pointer is aligned to less than 16 bytes, or to less than when the kernel was selected";
    case Status::workspace_too_small:
      return "the workspace is smaller than workspace_bytes(), null, or not aligned to 256 bytes";
    case Status::not_prepared:
      return "prepare() has not been called for this device and context";
    case Status::no_driver:
      return "there is no CUDA driver or no CUDA device";
    case Status::driver_too_old:
      return "the CUDA driver is older than the compiler these kernels were made with";
    case Status::wrong_device:
      return "no kernel of this header was compiled for the device, or the stream is of another device";
    case Status::not_compiled:
      return "NVRTC is not there, or compiles none of these kernels for the device";
    case Status::cuda_error:
      break;
  }
  return "the CUDA driver refused a call; last_cuda_error() has its number";
}

/// How the kernel that was chosen fits.
enum class Match {
  exact,         ///< tuned for this very problem on this class of device
  guess,         ///< chosen for this very problem by what was measured on others; nothing was measured of it
  neighbour,     ///< tuned for a problem near it
  other_device,  ///< tuned on another device of the same architecture
  fallback,      ///< the caller's function
  none,
};

/// Of A, then B: n as written, t stored transposed.
enum class Layout : std::uint8_t { nn, nt, tn, tt };

/// bias: a vector of n elements of D's type, added to every row. It comes before the activation.
struct Epilogue {
  bool bias = false;
  Activation activation = Activation::none;
};

/// D[m,n] = activation(alpha * op(A) * op(B) + beta * C + bias), row-major, in `batch` matrices.
/// A is stored m x k (n) or k x m (t), B k x n (n) or n x k (t). Everything counts elements. 0 means packed: leading
/// dimensions of a row's length, strides of rows times leading dimension. D has C's type, leading dimension and stride.
struct Problem {
  Type type;
  Layout layout;
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  Element out = Element::usual;  ///< of C and D
  Epilogue epilogue = {};
};

/// Device pointers, each aligned to 16 bytes. c is not read where beta is 0, and may be d; bias only where the problem
/// has one.
struct Operands {
  const void *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  void* d = nullptr;
  float alpha = 1, beta = 0;
};

/// Computes the problem itself; called by Gemm::run() where no kernel of this header serves it. What it returns, run()
/// returns.
using Fallback = Status (*)(const Problem&, const Operands&, void* workspace, std::size_t workspace_bytes,
                            CUstream stream, void* user);

/// What select() may choose.
struct Policy {
  /// The worst of exact, guess, neighbour and other_device that may be launched. What is worse goes to the fallback.
  Match worst = Match::neighbour;
  /// A guess or a neighbour whose expected loss is larger is not launched: 0.03 is 3 %.
  double largest_loss = 0.03;
  /// A variant's number (Entry::variant): it and nothing else serves the problem, or select() says not_supported.
  /// Results of a row then do not depend on m: a variant whose sums would is refused. -1: none.
  int pinned = -1;
  Fallback fallback = nullptr;
  void* user = nullptr;                      ///< handed to the fallback
  std::size_t fallback_workspace_bytes = 0;  ///< what the fallback wants
};

/// What select() chose.
struct Choice {
  Match match = Match::none;
  int variant = -1;           ///< number among the variants of this header; -1: none of them
  double expected_loss = -1;  ///< of time, against a variant tuned for the problem; below 0: not known
  const char* why = "";       ///< one line for people
};

/// One problem, and what is known of its kernel. Of a guess no time is known, and no ratio: they are 0.
struct Entry {
  Problem problem;
  bool adds_c;  ///< tuned with beta other than 0
  int variant;
  int device_class;
  double time_s, tflops;
  double ratio, ratio_low, ratio_high;  ///< cuBLASLt's best time over its own, with the 95 % interval
  bool guessed;
  double guessed_loss;  ///< of a guess: the time over that of a tuned variant, less one, to be expected (a median)
  const char* origin;   ///< board, driver, date and template version it was measured with; what a guess rests on
};

/// GPUs that entries count for. Of what makes a class the CUDA driver tells a program all but the power limit.
struct DeviceClass {
  const char* name;  ///< with the profile of a MIG instance
  const char* architecture;
  int sm_count;
  int memory_gib;    ///< rounded; 0: not recorded, any counts
  const char* text;  ///< "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W"
};

/// One compiled kernel with its parameters.
struct Variant {
  const char* template_name;
  const char* parameters;
};

/// What borrowing a neighbour's variant cost where that was measured: see the comment at the tables.
struct NeighbourLoss {
  Type type;
  double radius;       ///< largest distance of a neighbour, in doublings; 0: no neighbour is taken
  int held_out;        ///< tuned problems that were dispatched as if they were not there, and had a neighbour
  int measured;        ///< of these, how many had tried the neighbour's variant
  double median, p90;  ///< loss of those
};

/// Where the kernels come from.
struct Build {
  const char* pgtune;  ///< version
  const char* nvrtc;   ///< compiler of the kernels
  int least_driver;    ///< cuDriverGetVersion() at least
  const char* content_hash;
};

}  // namespace pgtune_export
