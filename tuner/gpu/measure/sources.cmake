# The measuring half of the worker: launch/, measure/, reference/. Included from tuner/gpu/CMakeLists.txt.
set(measure_sources
    launch/argument_block.cpp launch/cuda_failure.cpp launch/driver.cpp launch/event_wait.cpp launch/handles.cpp launch/module.cpp
    launch/prepared_plan.cpp launch/tensor_map.cpp
    measure/block_timer.cpp measure/checker.cpp measure/current_problem.cpp measure/device_info.cpp
    measure/error_bound.cpp measure/fault_text.cpp measure/helper_kernels.cpp measure/launch_series.cpp measure/loaded_variant.cpp
    measure/measurer.cpp measure/operand_buffers.cpp measure/operand_layout.cpp measure/persisting_l2.cpp
    measure/screening.cpp
    measure/telemetry.cpp measure/timer_check.cpp
    measure/ceilings.cpp measure/ceilings_kernels.cpp measure/ceilings_plan.cpp measure/tensor_ceilings.cpp
    measure/energy_chunks.cpp measure/energy_load.cpp measure/energy_measurement.cpp measure/energy_tracker.cpp
    measure/energy_watch.cpp
    reference/algorithm_enumeration.cpp reference/cublaslt_candidates.cpp reference/cublaslt_config.cpp
    reference/cublaslt_library.cpp reference/cublaslt_matmul.cpp reference/cublaslt_types.cpp reference/reference.cpp
    reference/reference_operands.cpp reference/reference_takeover.cpp)
list(TRANSFORM measure_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
target_sources(pgtune_gpu PRIVATE ${measure_sources})
set(measure_kernels kernels.cu kernels/comparison.cuh kernels/data.cuh kernels/elements.cuh kernels/integers.cuh kernels/reference.cuh
    kernels/spans.cuh)
list(TRANSFORM measure_kernels PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
pgtune_embed(TARGET pgtune_gpu SYMBOL pgtune_measure_kernels BASE ${CMAKE_CURRENT_LIST_DIR} FILES ${measure_kernels})
pgtune_embed(TARGET pgtune_gpu SYMBOL pgtune_ceiling_kernels BASE ${CMAKE_CURRENT_LIST_DIR}
             FILES ${CMAKE_CURRENT_LIST_DIR}/ceilings.cu)
pgtune_embed(TARGET pgtune_gpu SYMBOL pgtune_tensor_ceiling_kernels BASE ${CMAKE_CURRENT_LIST_DIR}
             FILES ${CMAKE_CURRENT_LIST_DIR}/tensor_ceilings.cu)
