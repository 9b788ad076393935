# Most of a file's compile time is reading nlohmann/json, CLI11, fmt, GoogleTest and the standard library, and instantiating
# their templates; in a batch that is done once. What a file keeps for itself in an unnamed namespace is then shared by its
# batch: names there have to differ within a folder. A file that cannot do that says
# set_source_files_properties(FILE PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON).
set(CMAKE_UNITY_BUILD ${PGTUNE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 32)
# For tests, which share more: a whole program.
set(pgtune_test_batch 64)
# GCC looks for memory to give back so often that it costs a twelfth of the time; a batch needs a third more without.
cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR mib_per_core "${memory_mib} / ${cores}")
if(PGTUNE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND mib_per_core GREATER_EQUAL 3072)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()
