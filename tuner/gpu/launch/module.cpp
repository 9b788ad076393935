// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/module.hpp"

namespace pgtune::gpu {

CudaResult<Module> Module::load(const Driver& driver, const std::string& cubin) {
  CUmodule module = nullptr;
  return check(driver.module_load_data(&module, cubin.data()), "loading the cubin").map([&] {
    return Module(driver, module);
  });
}

Module::~Module() {
  if (module_ != nullptr) static_cast<void>(driver_->module_unload(module_));
}

CudaResult<CUfunction> Module::function(const std::string& symbol) const {
  CUfunction function = nullptr;
  return check(driver_->module_get_function(&function, module_, symbol.c_str()),
               "looking up the kernel " + symbol + " in the cubin")
      .map([&] { return function; });
}

}  // namespace pgtune::gpu
