// SPDX-License-Identifier: MIT
// Which matrix of a batch a CTA works on, and its index within that matrix, where a grid has `ctas` CTAs for each
// matrix. Matrices lie along the grid's y or z (`axis`), which end at 65,535; with BATCH_ALONG_X they lie along its x.
// These are macros because `ctas` must leave no trace in other kernels.
#pragma once

#if BATCH_ALONG_X
#define CTA_OF_MATRIX(ctas) (blockIdx.x % static_cast<unsigned>(ctas))
#define MATRIX_OF_BATCH(axis, ctas) (blockIdx.x / static_cast<unsigned>(ctas))
#else
#define CTA_OF_MATRIX(ctas) blockIdx.x
#define MATRIX_OF_BATCH(axis, ctas) blockIdx.axis
#endif
