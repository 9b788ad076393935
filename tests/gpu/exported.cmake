# Exported headers on a GPU. pgtune_exported_program(NAME DATABASE) exports a database's winners and builds the program that
# checks them. It takes what it needs to compile the kernels (half a second each), so only the small one is in the suite;
# the others are built by name.
function(pgtune_exported_program name database)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(OUTPUT ${folder}/best_gemm.hpp
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${folder} $<TARGET_FILE:pgtune> export header --db ${database} -o ${folder}/best_gemm.hpp
    DEPENDS pgtune pgtune-worker ${database} VERBATIM)
  add_executable(${name} exported_device.cpp ${folder}/best_gemm.hpp)
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PRIVATE ${folder})
  target_link_libraries(${name} PRIVATE pgtune_tool pgtune_gpu pgtune_jit pgtune_space pgtune_stats pgtune_fmt
                        nlohmann_json::nlohmann_json pgtune_warnings CUDA::cublasLt ${CMAKE_DL_LIBS})
endfunction()
pgtune_exported_program(gpu_exported_device ${PROJECT_SOURCE_DIR}/recordings/h200-bf16-settled.db)
add_test(NAME gpu_exported_device COMMAND gpu_exported_device)
set_tests_properties(gpu_exported_device PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 300)
foreach(suite bf16 f32 e4m3 tf32 special)
  pgtune_exported_program(gpu_exported_${suite} ${PROJECT_SOURCE_DIR}/recordings/h200-${suite}.db)
  set_target_properties(gpu_exported_${suite} PROPERTIES EXCLUDE_FROM_ALL ON)
endforeach()
