# What pgtune is built with. Everything but the CUDA Toolkit is a distribution package (scripts/setup lists them).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)

# fmt_library.cpp knows what fmt 9 leaves to its compiled library; another version is used header-only.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  add_library(pgtune_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp)
  target_include_directories(pgtune_fmt SYSTEM PUBLIC ${fmt_include})
else()
  add_library(pgtune_fmt INTERFACE)
  target_link_libraries(pgtune_fmt INTERFACE fmt::fmt-header-only)
endif()

# SQLite and xxHash are linked statically so that a built pgtune runs on machines without their packages.
find_library(PGTUNE_SQLITE3 NAMES libsqlite3.a sqlite3 REQUIRED)
find_library(PGTUNE_XXHASH NAMES libxxhash.a xxhash REQUIRED)
find_path(PGTUNE_SQLITE3_INCLUDE sqlite3.h REQUIRED)
find_path(PGTUNE_XXHASH_INCLUDE xxhash.h REQUIRED)
add_library(pgtune_sqlite3 INTERFACE)
target_include_directories(pgtune_sqlite3 SYSTEM INTERFACE ${PGTUNE_SQLITE3_INCLUDE})
target_link_libraries(pgtune_sqlite3 INTERFACE ${PGTUNE_SQLITE3} Threads::Threads ${CMAKE_DL_LIBS} m)
add_library(pgtune_xxhash INTERFACE)
target_include_directories(pgtune_xxhash SYSTEM INTERFACE ${PGTUNE_XXHASH_INCLUDE})
target_link_libraries(pgtune_xxhash INTERFACE ${PGTUNE_XXHASH})

set(PGTUNE_HAVE_WORKER OFF)
if(PGTUNE_WORKER)
  find_package(CUDAToolkit 12.8)
  if(CUDAToolkit_FOUND AND TARGET CUDA::nvrtc AND TARGET CUDA::cublasLt AND TARGET CUDA::cudart_static)
    set(PGTUNE_HAVE_WORKER ON)
  else()
    message(STATUS "No CUDA Toolkit 12.8 or newer with NVRTC and cuBLASLt: building pgtune without pgtune-worker "
                   "(replay, reports and the database work; searching on a GPU does not)")
  endif()
endif()
