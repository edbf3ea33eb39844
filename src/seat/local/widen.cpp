#include "seat/local/widen.h"

#include <ggml.h>
#include <gguf.h>
#include <llama.h>
#include <sys/mman.h>

#include <memory>

namespace deem::seat::local {

std::optional<Weights> read_weights(const std::string& path) {
  ggml_context* shapes = nullptr;
  const gguf_init_params params{.no_alloc = true, .ctx = &shapes};
  const std::unique_ptr<gguf_context, decltype(&gguf_free)> file(
      gguf_init_from_file(path.c_str(), params), &gguf_free);
  const std::unique_ptr<ggml_context, decltype(&ggml_free)> owner(shapes, &ggml_free);
  if (!file || shapes == nullptr) return std::nullopt;
  Weights weights{.count = 0, .quantised = false, .plain = true};
  for (ggml_tensor* tensor = ggml_get_first_tensor(shapes); tensor != nullptr;
       tensor = ggml_get_next_tensor(shapes, tensor)) {
    weights.count += ggml_nelements(tensor);
    weights.quantised |= ggml_is_quantized(tensor->type);
    weights.plain &= tensor->type == GGML_TYPE_F32;
  }
  return weights;
}

std::optional<WidenedFile> widen(const std::string& path, int threads) {
  WidenedFile widened{.fd = Fd(memfd_create("deem-weights", MFD_CLOEXEC)), .path = {}};
  if (!widened.fd) return std::nullopt;
  widened.path = "/proc/self/fd/" + std::to_string(widened.fd.get());
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = LLAMA_FTYPE_ALL_F32;
  params.allow_requantize = true;
  params.nthread = threads;
  if (llama_model_quantize(path.c_str(), widened.path.c_str(), &params) != 0) return std::nullopt;
  return widened;
}

}  // namespace deem::seat::local
