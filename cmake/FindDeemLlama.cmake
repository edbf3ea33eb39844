# Target deem_llama: the pinned llama.cpp that tools/fetch-llama built into the prefix
# DEEM_LLAMA_DIR. Its headers are for src/seat/local alone.
if(NOT EXISTS "${DEEM_LLAMA_DIR}/lib/libllama.a")
  message(FATAL_ERROR "DEEM_LLAMA_DIR is '${DEEM_LLAMA_DIR}', which holds no built llama.cpp. "
    "Run `make build`, give -DDEEM_LLAMA_DIR=$(tools/fetch-llama), or leave seats in this process "
    "out with -DDEEM_LOCAL=OFF.")
endif()
find_package(OpenMP QUIET COMPONENTS CXX)
find_package(Threads REQUIRED)

# The archives refer to each other in circles, and GPU backends add some.
file(GLOB deem_ggml_archives "${DEEM_LLAMA_DIR}/lib/libggml*.a")
add_library(deem_llama INTERFACE)
target_include_directories(deem_llama SYSTEM INTERFACE
  "${DEEM_LLAMA_DIR}/include" "${DEEM_LLAMA_DIR}/include/common")
target_link_libraries(deem_llama INTERFACE
  -Wl,--start-group "${DEEM_LLAMA_DIR}/lib/libllama-jinja.a" "${DEEM_LLAMA_DIR}/lib/libllama.a"
  ${deem_ggml_archives} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS})
# As an archive, so that src/seat/local can set how its threads wait before it reads the environment.
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libgomp.a
  OUTPUT_VARIABLE deem_gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
if(IS_ABSOLUTE "${deem_gomp}" AND EXISTS "${deem_gomp}")
  target_link_libraries(deem_llama INTERFACE "${deem_gomp}" Threads::Threads ${CMAKE_DL_LIBS})
elseif(OpenMP_CXX_FOUND)
  target_link_libraries(deem_llama INTERFACE ${OpenMP_CXX_LIBRARIES})
endif()
if(EXISTS "${DEEM_LLAMA_DIR}/lib/libggml-cuda.a")
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(deem_llama INTERFACE
    CUDA::cudart_static CUDA::cublas CUDA::cublasLt CUDA::cuda_driver)
endif()
if(EXISTS "${DEEM_LLAMA_DIR}/lib/libggml-vulkan.a")
  find_package(Vulkan REQUIRED)
  target_link_libraries(deem_llama INTERFACE Vulkan::Vulkan)
endif()
