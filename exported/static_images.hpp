// SPDX-License-Identifier: MIT
// Kernels that lie in the program as machine code.
#pragma once

#include "exported/driver.hpp"

namespace pgtune_export::detail {

inline Status load_image(const Driver& d, int number, const Device&) noexcept {
  CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;  // it lies in the program: no copy is needed
  void* value = reinterpret_cast<void*>(std::uintptr_t{1});
  CUlibrary library = nullptr;
  const CUresult code = d.library_load(&library, kImages[number].data, nullptr, nullptr, 0, &option, &value, 1);
  if (code == CUDA_SUCCESS) {
    state.libraries[number] = library;
    return Status::ok;
  }
  failed(code);
  return code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || code == CUDA_ERROR_INVALID_IMAGE ? Status::driver_too_old
                                                                                        : Status::cuda_error;
}

}  // namespace pgtune_export::detail
