// SPDX-License-Identifier: MIT
// Breaks a rule on purpose: the dependency test must notice.
#include "tuner/session/store.hpp"
