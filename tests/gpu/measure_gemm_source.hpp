// SPDX-License-Identifier: MIT
// A plain GEMM for the tests, right or with one planted fault, compiled on the spot for the GPU at hand.
#pragma once

#include <memory>
#include <string>

#include "tests/gpu/test_folder.hpp"
#include "tuner/device/device.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// Compiles `source` with NVRTC into a cubin in `folder`; a failure is a test failure with the log.
[[nodiscard]] BuildInfo build_source(const TestFolder& folder, const std::string& source,
                                     const std::string& architecture, const std::vector<Define>& defines);

/// Request for the plain GEMM on `problem`; `fault` is a macro of the source, "" for the right kernel.
[[nodiscard]] protocol::TrialRequest gemm_trial(const TestFolder& folder, const Problem& problem,
                                                const std::string& architecture, const std::string& fault);

[[nodiscard]] Problem make_problem(const std::string& shape, const std::string& layout = "nn");

/// A measurer on GPU 0, or null with the reason in `why`.
[[nodiscard]] std::unique_ptr<Measurer> open_measurer(std::string& why);

}  // namespace pgtune::gpu
