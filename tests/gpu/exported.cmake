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
  target_link_libraries(${name} PRIVATE pgtune_tool pgtune_gpu pgtune_operation pgtune_jit pgtune_space pgtune_stats pgtune_fmt
                        nlohmann_json::nlohmann_json pgtune_warnings CUDA::cublasLt ${CMAKE_DL_LIBS})
endfunction()
pgtune_exported_program(gpu_exported_device ${PROJECT_SOURCE_DIR}/recordings/h200-bf16-settled.db.zst)
add_test(NAME gpu_exported_device COMMAND gpu_exported_device)
set_tests_properties(gpu_exported_device PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 300)
# What a user's export does by itself where there is a GPU.
add_test(NAME gpu_export_verify COMMAND ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/gpu_exported_device $<TARGET_FILE:pgtune>
         export header --db ${PROJECT_SOURCE_DIR}/recordings/h200-bf16-settled.db.zst --verify -o ${CMAKE_CURRENT_BINARY_DIR}/verified.hpp)
set_tests_properties(gpu_export_verify PROPERTIES LABELS gpu SKIP_RETURN_CODE 3 TIMEOUT 300)
# The same of operations, which are tuned there: no recording has any.
add_test(NAME gpu_exported_operations COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/exported_operations.sh $<TARGET_FILE:pgtune> ${PROJECT_SOURCE_DIR}
         ${PGTUNE_CUDA_HEADERS} ${CMAKE_CURRENT_BINARY_DIR}/exported_operations)
set_tests_properties(gpu_exported_operations PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 300)
add_custom_target(named_programs)
foreach(suite bf16 f32 e4m3 tf32 special)
  pgtune_exported_program(gpu_exported_${suite} ${PROJECT_SOURCE_DIR}/recordings/h200-${suite}.db.zst)
  set_target_properties(gpu_exported_${suite} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(named_programs gpu_exported_${suite})
endforeach()

# What a program has, and no more: the benchmark of a transformer's products (bench/exported_block.cpp), and the package that
# examples/pytorch compiles. Built by name.
set(bf16_folder ${CMAKE_CURRENT_BINARY_DIR}/gpu_exported_bf16)
add_executable(exported_block EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/bench/exported_block.cpp ${bf16_folder}/best_gemm.hpp)
set_target_properties(exported_block PROPERTIES UNITY_BUILD OFF)
target_include_directories(exported_block SYSTEM PRIVATE ${bf16_folder})
target_link_libraries(exported_block PRIVATE pgtune_warnings CUDA::cudart_static CUDA::cublasLt ${CMAKE_DL_LIBS})
add_custom_command(OUTPUT ${bf16_folder}/library/src/best_gemm.cpp
  COMMAND ${CMAKE_COMMAND} -E env XDG_CACHE_HOME=${bf16_folder} $<TARGET_FILE:pgtune> export header
          --db ${PROJECT_SOURCE_DIR}/recordings/h200-bf16.db.zst --library ${bf16_folder}/library
  DEPENDS ${bf16_folder}/best_gemm.hpp pgtune VERBATIM)
add_custom_target(exported_package DEPENDS ${bf16_folder}/library/src/best_gemm.cpp)
add_dependencies(named_programs exported_block exported_package)
