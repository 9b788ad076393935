# Tests of energy windows and ceilings. Included from tests/gpu/CMakeLists.txt.
pgtune_test(gpu_energy_test LABELS unit
            SOURCES energy_chunks_test.cpp energy_refusal_test.cpp energy_watch_test.cpp ceilings_plan_test.cpp
            LIBRARIES pgtune_gpu)
pgtune_test(gpu_ceilings_nvrtc_test LABELS nvrtc SOURCES ceilings_nvrtc_test.cpp LIBRARIES pgtune_gpu)
pgtune_test(gpu_energy_device_test LABELS gpu
            SOURCES measure_gemm_source.cpp energy_device_test.cpp ceilings_device_test.cpp
            LIBRARIES pgtune_gpu pgtune_operation pgtune_jit pgtune_space pgtune_device pgtune_model)
