# The faulty template of tests/templates/faults: what shows without a GPU, and what only a GPU shows.
pgtune_test(gpu_faults_compile_test LABELS nvrtc SOURCES faults_compile_test.cpp
            LIBRARIES pgtune_device pgtune_session pgtune_space pgtune_model)
target_compile_definitions(gpu_faults_compile_test PRIVATE PGTUNE_WORKER_PATH="$<TARGET_FILE:pgtune-worker>")
add_dependencies(gpu_faults_compile_test pgtune-worker)

pgtune_test(gpu_faults_device_test LABELS gpu SOURCES faults_device_test.cpp faults_search_test.cpp faults_reference_test.cpp ../tool/process.cpp
            LIBRARIES pgtune_gpu pgtune_device pgtune_db pgtune_session pgtune_space pgtune_model nlohmann_json::nlohmann_json
                      pgtune_fmt util)
target_compile_definitions(gpu_faults_device_test PRIVATE
  PGTUNE_WORKER_PATH="$<TARGET_FILE:pgtune-worker>" PGTUNE_PROGRAM="$<TARGET_FILE:pgtune>")
add_dependencies(gpu_faults_device_test pgtune pgtune-worker)
