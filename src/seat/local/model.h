#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

struct llama_model;
struct llama_context;
struct llama_vocab;

namespace deem::seat::local {

struct ModelDeleter {
  void operator()(llama_model* model) const;
};
struct ContextDeleter {
  void operator()(llama_context* context) const;
};
using ModelPtr = std::unique_ptr<llama_model, ModelDeleter>;
using ContextPtr = std::unique_ptr<llama_context, ContextDeleter>;

/// A model in memory.
struct LoadedModel {
  ModelPtr model;
  std::string description;      // "llama 256M Q4_1"
  bool full_precision = false;  // weights are 32-bit floats in memory, whatever they are on disk
  bool offloaded = false;       // layers are on a GPU
};

/// Loads a GGUF model file; on CPUs quantised weights are widened (widen.h) where the result fits
/// in a third of the free memory. `threads` 0: one a core. Errors: NotFound; Corrupt "FILE: not a
/// GGUF file", or with llama.cpp's own words (cut short, unknown architecture); BadInput for a
/// folder or a bad number; Unsupported for models that do not write text left to right.
Result<LoadedModel> load_model(const std::string& path, int gpu_layers, int threads);

/// What one context may hold, and how.
struct ContextShape {
  std::int64_t context = 0;     // tokens one request may hold
  std::uint32_t cells = 0;      // cells of key-value memory: `context` and room for branches
  std::uint32_t sequences = 1;  // the last is for padding, where there are several
  std::uint32_t outputs = 0;    // rows of scores one call may give
  bool shares_prefixes = false;
};

/// Tokens evaluated by one call into llama.cpp at the most.
inline constexpr std::uint32_t kBatchTokens = 512;

/// Chooses the shape. `asked` 0: what the model was trained for, held to a quarter of the free
/// memory. Errors: BadInput when `asked` is below 16 or more than fits in three quarters of it.
Result<ContextShape> plan_context(const LoadedModel& loaded, std::int64_t asked);

/// Errors: Unavailable when memory is short.
Result<ContextPtr> make_context(const LoadedModel& loaded, const ContextShape& shape, int threads);

/// "llama.cpp 0.5.0-dev, ggml 0.25.3".
std::string engine_build();

/// llama.cpp's last complaint since the last call, without its function names; "" when none.
std::string take_complaint();

}  // namespace deem::seat::local
