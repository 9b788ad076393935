// SPDX-License-Identifier: MIT
// The tables of a callable header: images, parameters, variants, entries, device classes, losses.
#pragma once

#include <string>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// All but the arrays of the images and what operation_tables() has.
[[nodiscard]] std::string tables(const CallableHeader& content, const std::string& content_hash);

/// What a header says of a radius, in a comment.
[[nodiscard]] std::string loss_comment(const MeasuredLoss& loss);

/// The images: constants of a header, or definitions of what image_declarations() declares.
enum class ImageForm { kInline, kDefinition };
[[nodiscard]] std::string image_arrays(const CallableHeader& content, ImageForm form);
[[nodiscard]] std::string image_declarations(const CallableHeader& content);

/// In their place in a header of sources (`--jit`): kFiles, kJitImages and the most that an image has of headers and
/// options. Each file of the templates is there once.
[[nodiscard]] std::string jit_tables(const CallableHeader& content);

}  // namespace pgtune::tool
