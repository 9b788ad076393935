// SPDX-License-Identifier: MIT
// The tables of a callable header: images, parameters, variants, entries, device classes, losses.
#pragma once

#include <string>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// All tables except the arrays of the images and operation_tables().
[[nodiscard]] std::string tables(const CallableHeader& content, const std::string& content_hash);

/// A header's comment on a radius.
[[nodiscard]] std::string loss_comment(const MeasuredLoss& loss);

/// The images: constants of a header, or definitions for image_declarations().
enum class ImageForm { kInline, kDefinition };
[[nodiscard]] std::string image_arrays(const CallableHeader& content, ImageForm form);
[[nodiscard]] std::string image_declarations(const CallableHeader& content);

/// Their replacement in a header of sources (`--jit`): kFiles, kJitImages and an image's maximum numbers of headers and
/// options. Each file of the templates occurs once.
[[nodiscard]] std::string jit_tables(const CallableHeader& content);

}  // namespace pgtune::tool
