// SPDX-License-Identifier: MIT
// What a program sees of every exported header: status codes, choices, device classes.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "exported/largest_loss.hpp"

namespace pgtune_export {

/// What a call says; nothing was launched unless it is ok or cuda_error.
enum class Status {
  ok,
  invalid_argument,     ///< null pointer, extent below 1, stride too small, unknown word, sizes that are refused
  not_supported,        ///< no kernel here serves the problem, and there is no fallback
  misaligned,           ///< a pointer is aligned to less than its kernels need, or to less than when one was selected
  workspace_too_small,  ///< less than workspace_bytes(), null, or not aligned to 256 bytes
  not_prepared,         ///< prepare() was not called for the device, or not in this context
  no_driver,            ///< there is no CUDA driver or no device
  driver_too_old,       ///< it cannot load kernels of the compiler these were made with
  wrong_device,         ///< no kernel here was compiled for the device, or the stream is of another one
  cuda_error,           ///< the driver refused a call: last_cuda_error() has its number
  not_compiled,         ///< of a header with sources: NVRTC is not there, or compiles none of them
};

/// Another name for it, where Xlib.h makes a macro of the first.
using StatusCode = Status;

/// A sentence for people.
inline const char* text(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "done";
    case Status::invalid_argument:
      return "an argument is wrong: a null pointer, an extent below 1, a leading dimension or stride too small, sizes "
             "that the operation refuses";
    case Status::not_supported:
      return "no kernel of this header serves the problem, and no fallback was given";
    case Status::misaligned:
      return "a pointer is aligned to less than its kernels need, or to less than when the kernel was selected";
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
  family,        ///< of the kernels for every m of a range of GEMMs that differ in m alone, of which some were measured
  guess,         ///< chosen for this very problem by what was measured on others; nothing was measured of it
  neighbour,     ///< tuned for a problem near it
  other_device,  ///< tuned on another device of the same architecture
  fallback,      ///< the caller's function
  none,
};

/// What select() may choose.
struct Limits {
  /// The worst of exact, family, guess, neighbour and other_device that may be launched.
  Match worst = Match::neighbour;
  /// A guess or a neighbour whose expected loss is larger is not launched, nor a family of which any measured m lost
  /// more: 0.05 is 5 %.
  double largest_loss = kLargestLoss;
  /// A variant's number (as entries have it): it and nothing else serves the problem, or select() says not_supported.
  /// -1: none.
  int pinned = -1;
  /// Nothing serves but families whose kernels add in one order, whatever they lose, and no fallback: a row has the
  /// same bits at every m.
  bool batch_invariant = false;
};

/// What select() chose.
struct Choice {
  Match match = Match::none;
  int variant = -1;           ///< number among the variants of this header; -1: none of them
  double expected_loss = -1;  ///< of time, against a variant tuned for the problem; below 0: not known
  const char* why = "";       ///< one line for people
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
  /// How an element's products are added: variants with the same words give the same bits, at every M and for every
  /// row.
  /// "": that depends on M or on where a row lies. Null: the template does not say.
  const char* sum_order;
};

/// Where the kernels come from.
struct Build {
  const char* pgtune;  ///< version
  const char* nvrtc;   ///< compiler of the kernels
  int least_driver;    ///< cuDriverGetVersion() at least
  const char* content_hash;
};

}  // namespace pgtune_export
