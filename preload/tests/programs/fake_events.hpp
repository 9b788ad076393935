// SPDX-License-Identifier: MIT
// What the preload library needs of the CUDA driver to time calls (fake_events.cpp).
#pragma once

extern "C" void fake_capture(bool capturing);
