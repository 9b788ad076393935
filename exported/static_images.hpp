// SPDX-License-Identifier: MIT
// Kernels that lie in the program as machine code.
#pragma once

#include <cstring>

#include "exported/driver.hpp"

namespace pgtune_export::detail {

/// The words of an image. Its text has five digits in base 85 for each, the first the most significant: the characters
/// from '#' on without '?' and '\\', which mean something in literals.
inline bool decode(const Image& image, Bytes& out) noexcept {
  if (!out.allocate(image.words * sizeof(std::uint32_t))) return false;
  const char* next = image.text;
  for (std::size_t i = 0; i < image.words; ++i) {
    std::uint32_t word = 0;
    for (int digit = 0; digit < 5; ++digit, ++next)
      word = word * 85 + static_cast<std::uint32_t>(*next - '#' - (*next > '?') - (*next > '\\'));
    std::memcpy(out.data + i * sizeof word, &word, sizeof word);
  }
  return true;
}

inline Status load_image(const Driver& d, int number, const Device&) noexcept {
  Bytes image;
  if (!decode(kImages[number], image)) return failed(CUDA_ERROR_OUT_OF_MEMORY);
  CUlibrary library = nullptr;
  const CUresult code = d.library_load(&library, image.data, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code == CUDA_SUCCESS) {
    state.libraries[number] = library;
    return Status::ok;
  }
  failed(code);
  return code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || code == CUDA_ERROR_INVALID_IMAGE ? Status::driver_too_old
                                                                                        : Status::cuda_error;
}

}  // namespace pgtune_export::detail
