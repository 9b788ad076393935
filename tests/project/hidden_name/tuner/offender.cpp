// SPDX-License-Identifier: MIT
// For the test of hidden_names.py: a file of pgtune::gpu that comes later in the batch gets this constant.
namespace pgtune::gpu {
namespace {

constexpr int kMaxRank = 5;

}  // namespace
}  // namespace pgtune::gpu
