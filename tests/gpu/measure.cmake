# Tests of the measuring half: launch/, measure/, baseline/. Included from tests/gpu/CMakeLists.txt.
pgtune_test(gpu_measure_test LABELS unit
            SOURCES measure_error_bound_test.cpp measure_memory_test.cpp measure_dtype_tables_test.cpp measure_operand_layout_test.cpp measure_guarded_memory_test.cpp measure_verification_test.cpp measure_screening_test.cpp measure_arguments_test.cpp
                    measure_fault_text_test.cpp measure_device_info_test.cpp measure_timer_check_test.cpp
                    measure_algorithms_test.cpp measure_products_test.cpp measure_telemetry_test.cpp measure_settling_test.cpp ../nvml/fake_state.cpp
            LIBRARIES pgtune_gpu pgtune_operation)
target_compile_definitions(gpu_measure_test PRIVATE PGTUNE_FAKE_NVML="$<TARGET_FILE:fake_nvml>"
                           PGTUNE_OLD_LIBRARY="$<TARGET_FILE:pgtune_marked_library_0>"
                           PGTUNE_GOOD_LIBRARY="$<TARGET_FILE:pgtune_marked_library_1>")
add_dependencies(gpu_measure_test fake_nvml pgtune_marked_library_0 pgtune_marked_library_1)

# The timing of launches on a GPU in virtual time: the linker gives these functions to the simulated one.
pgtune_test(gpu_timing_test LABELS unit SOURCES measure_sample_timer_test.cpp simulated_gpu.cpp LIBRARIES pgtune_gpu)
foreach(function IN ITEMS cudaEventCreate cudaEventDestroy cudaEventRecord cudaEventSynchronize cudaEventQuery cudaEventElapsedTime
                          cudaStreamSynchronize cudaStreamBeginCapture cudaStreamEndCapture cudaGraphDestroy cudaGraphInstantiate
                          cudaGraphExecDestroy cudaGraphUpload cudaGraphLaunch)
  target_link_options(gpu_timing_test PRIVATE LINKER:--wrap=${function})
endforeach()

pgtune_test(gpu_measure_nvrtc_test LABELS nvrtc SOURCES measure_kernels_nvrtc_test.cpp LIBRARIES pgtune_gpu)

pgtune_test(gpu_tma_demo_test LABELS unit SOURCES measure_tma_demo_rules_test.cpp LIBRARIES pgtune_space pgtune_model)

pgtune_test(gpu_measure_device_test LABELS gpu
            SOURCES measure_gemm_source.cpp measure_check_test.cpp measure_baseline_test.cpp measure_copied_operands_test.cpp measure_round_test.cpp
                    measure_conditions_test.cpp measure_l2_sweep_test.cpp measure_dtypes_test.cpp measure_tma_demo_test.cpp
                    operation_baseline_test.cpp template_cases.cpp
            LIBRARIES pgtune_gpu pgtune_jit pgtune_operation pgtune_space pgtune_stats pgtune_device pgtune_model pgtune_fmt)
