# Host pipelines: what needs no GPU, the worker's half on one, and the loop that programs get. Included from
# tests/gpu/CMakeLists.txt.
pgtune_test(gpu_pipeline_test LABELS unit SOURCES pipeline_check_test.cpp LIBRARIES pgtune_gpu pgtune_operation)

# The worker's own sources on a CUDA runtime of the test's, instead of the library with the real one.
set(gpu_sources ${PROJECT_SOURCE_DIR}/tuner/gpu)
pgtune_test(gpu_pipeline_loop_test LABELS unit
            SOURCES pipeline_loop_test.cpp traced_run_test.cpp ../exported/fake_runtime.cpp ../exported/fake_runtime_memory.cpp ../exported/fake_runtime_streams.cpp
                    ${gpu_sources}/pipeline/host_buffer.cpp ${gpu_sources}/pipeline/host_copier.cpp ${gpu_sources}/pipeline/host_operands.cpp
                    ${gpu_sources}/pipeline/chunk_buffers.cpp ${gpu_sources}/pipeline/chunk_kernels.cpp ${gpu_sources}/pipeline/launch_time.cpp
                    ${gpu_sources}/pipeline/device_copy.cpp ${gpu_sources}/pipeline/loaded_pipeline.cpp ${gpu_sources}/pipeline/staging.cpp
                    ${gpu_sources}/pipeline/captured_work.cpp ${gpu_sources}/pipeline/traced_run.cpp
                    ${gpu_sources}/launch/cuda_failure.cpp ${gpu_sources}/launch/handles.cpp
            LIBRARIES pgtune_pipeline pgtune_fmt)
target_include_directories(gpu_pipeline_loop_test SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
set_target_properties(gpu_pipeline_loop_test PROPERTIES UNITY_BUILD OFF)

pgtune_test(gpu_pipeline_device_test LABELS gpu SOURCES pipeline_device_test.cpp LIBRARIES pgtune_gpu pgtune_operation)
add_executable(gpu_exported_pipeline exported_pipeline_device.cpp)
set_target_properties(gpu_exported_pipeline PROPERTIES UNITY_BUILD OFF)
target_include_directories(gpu_exported_pipeline PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gpu_exported_pipeline PRIVATE pgtune_warnings CUDA::cudart_static Threads::Threads ${CMAKE_DL_LIBS})
add_test(NAME gpu_exported_pipeline COMMAND gpu_exported_pipeline)
set_tests_properties(gpu_exported_pipeline PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 120)
