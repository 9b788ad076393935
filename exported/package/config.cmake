# SPDX-License-Identifier: MIT
# find_package(pgtune_export CONFIG) gives one target, pgtune_export::pgtune_export: the kernels with the C++ and the C interface, compiled
# as a part of the program that asks for it (static, or shared with BUILD_SHARED_LIBS). With pgtune_export_HEADER_ONLY set before,
# it is the header that holds everything instead, without the C interface.
# pgtune_export_CUDA_INCLUDE names the folder of cuda.h where it is not found.
cmake_policy(VERSION 3.16...3.28)
if(TARGET pgtune_export::pgtune_export)
  return()
endif()
get_property(pgtune_export_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT CXX IN_LIST pgtune_export_languages)
  set(pgtune_export_FOUND FALSE)
  set(pgtune_export_NOT_FOUND_MESSAGE "pgtune_export is compiled as C++: give the project the language CXX")
  return()
endif()
find_path(pgtune_export_CUDA_INCLUDE cuda.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
          PATH_SUFFIXES include DOC "Folder of cuda.h")
if(NOT pgtune_export_CUDA_INCLUDE)
  set(pgtune_export_FOUND FALSE)
  set(pgtune_export_NOT_FOUND_MESSAGE "cuda.h was not found; name its folder in pgtune_export_CUDA_INCLUDE")
  return()
endif()
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)

get_filename_component(pgtune_export_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(pgtune_export_HEADER_ONLY)
  add_library(pgtune_export::pgtune_export INTERFACE IMPORTED)
  set(pgtune_export_target pgtune_export::pgtune_export)
  set(pgtune_export_scope INTERFACE)
  target_include_directories(pgtune_export::pgtune_export INTERFACE "${pgtune_export_root}/header-only")
else()
  add_library(pgtune_export_compiled "${pgtune_export_root}/src/pgtune_export.cpp" "${pgtune_export_root}/src/pgtune_export_c.cpp")
  add_library(pgtune_export::pgtune_export ALIAS pgtune_export_compiled)
  # Shared, it exports what the headers declare, whatever the project hides of its own.
  set_target_properties(pgtune_export_compiled PROPERTIES OUTPUT_NAME pgtune_export POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET default)
  set(pgtune_export_target pgtune_export_compiled)
  set(pgtune_export_scope PUBLIC)
  target_include_directories(pgtune_export_compiled PUBLIC "${pgtune_export_root}/include")
endif()
target_include_directories(${pgtune_export_target} SYSTEM ${pgtune_export_scope} "${pgtune_export_CUDA_INCLUDE}")
target_compile_features(${pgtune_export_target} ${pgtune_export_scope} cxx_std_17)
target_link_libraries(${pgtune_export_target} ${pgtune_export_scope} Threads::Threads ${CMAKE_DL_LIBS})
