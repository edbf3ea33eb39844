#include "seat/local/model.h"

#include <ggml.h>
#include <llama.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/file_kind.h"
#include "base/text.h"
#include "seat/local/widen.h"
#include "seat/local_seat.h"

namespace deem::seat::local {
namespace {

/// How long a thread of libgomp spins at a barrier before it sleeps: some 10 µs in place of
/// milliseconds. Where another program wants the cores too, spinning starves both: a run beside
/// another took 42 s in place of 6; alone it costs about 4 %. libgomp reads the environment before
/// main, so this runs before it; a value the user gave stays.
[[gnu::constructor(101)]] void set_spin() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", "10000", 0);
}

// llama.cpp logs through one callback for the whole process; what it says of an error is the only
// account of it there is. Only errors are kept, and the last of them wins.
struct Complaint {
  std::mutex mutex;
  std::string text;   // guarded by `mutex`
  bool open = false;  // the last entry was kept and a continuation belongs to it
};

void keep_complaint(ggml_log_level level, const char* text, void* user) {
  auto& complaint = *static_cast<Complaint*>(user);
  const std::scoped_lock lock(complaint.mutex);
  if (level == GGML_LOG_LEVEL_CONT) {
    if (complaint.open) complaint.text += text;
    return;
  }
  complaint.open = level == GGML_LOG_LEVEL_ERROR;
  if (complaint.open && complaint.text.size() < 4096) complaint.text += text;
}

Complaint& complaint_of_process() {
  static Complaint complaint;
  return complaint;
}

void start_backend() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(keep_complaint, &complaint_of_process());
    llama_backend_init();
  });
}

Result<void> check_magic(const std::string& path) {
  if (is_folder(path)) return fail(Error::Code::BadInput, path + ": is a folder, not a model file");
  // Opening a pipe may never end.
  if (file_exists(path) && !is_regular_file(path))
    return fail(Error::Code::BadInput, path + ": not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(file_exists(path) ? Error::Code::Unavailable : Error::Code::NotFound,
                path + (file_exists(path) ? ": can not be read" : ": no such file"));
  }
  std::array<char, 4> magic{};
  file.read(magic.data(), magic.size());
  if (file.gcount() != 4 || std::string_view(magic.data(), 4) != "GGUF") {
    return fail(Error::Code::Corrupt, path + ": not a GGUF file");
  }
  return {};
}

std::int64_t meta_number(const llama_model& model, const std::string& key, std::int64_t fallback) {
  std::array<char, 64> text{};
  const int length = llama_model_meta_val_str(&model, key.c_str(), text.data(), text.size());
  std::int64_t value = 0;
  if (length <= 0) return fallback;
  const auto end =
      text.data() + std::min<std::size_t>(text.size() - 1, static_cast<std::size_t>(length));
  return std::from_chars(text.data(), end, value).ec == std::errc{} ? value : fallback;
}

// Bytes that one token of context takes: its keys and values, and where attention is not fused a
// column of each head's matrix of scores, before and after the softmax.
std::int64_t memory_per_token(const LoadedModel& loaded) {
  const llama_model& model = *loaded.model;
  std::array<char, 128> arch{};
  llama_model_meta_val_str(&model, "general.architecture", arch.data(), arch.size());
  const std::string prefix = std::string(arch.data()) + ".attention.";
  const std::int64_t heads = std::max(1, llama_model_n_head(&model));
  const std::int64_t plain = llama_model_n_embd(&model) / heads;
  const std::int64_t width = meta_number(model, prefix + "key_length", plain) +
                             meta_number(model, prefix + "value_length", plain);
  const std::int64_t each = loaded.full_precision ? 4 : 2;
  const std::int64_t scores = loaded.full_precision ? 2 * each * heads * kBatchTokens : 0;
  return each * llama_model_n_layer(&model) * llama_model_n_head_kv(&model) * width + scores;
}

std::int64_t free_memory() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name; meminfo >> name;) {
    std::int64_t kib = 0;
    meminfo >> kib;
    if (name == "MemAvailable:") return kib * 1024;
    meminfo.ignore(64, '\n');
  }
  struct sysinfo info{};
  return sysinfo(&info) == 0 ? static_cast<std::int64_t>(info.freeram) * info.mem_unit : 0;
}

// Cores, not hardware threads: two threads of one core share the units that multiply.
int physical_cores() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("physical id")) socket = line;
    if (line.starts_with("core id")) cores.emplace(socket, line);
  }
  const int usable = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return cores.empty() ? usable : std::min(usable, static_cast<int>(cores.size()));
}

int usable_threads(int asked) { return asked != 0 ? asked : physical_cores(); }

}  // namespace

void ModelDeleter::operator()(llama_model* model) const { llama_model_free(model); }
void ContextDeleter::operator()(llama_context* context) const { llama_free(context); }

std::string take_complaint() {
  Complaint& complaint = complaint_of_process();
  const std::scoped_lock lock(complaint.mutex);
  std::string last;
  for (std::string_view line : split(complaint.text, '\n')) {
    // "llama_model_load: error loading model: …" → what follows the function's name.
    const std::size_t colon = line.find(": ");
    if (colon != line.npos && line.substr(0, colon).find(' ') == line.npos) {
      line.remove_prefix(colon + 2);
    }
    line = trim(line);
    constexpr std::string_view kPrefix = "error loading model: ";
    if (line.starts_with(kPrefix)) line.remove_prefix(kPrefix.size());
    constexpr std::string_view kNoise = "failed to load model";
    if (!line.empty() && (last.empty() || line.find(kNoise) == line.npos)) last = line;
  }
  complaint.text.clear();
  complaint.open = false;
  return last;
}

Result<LoadedModel> load_model(const std::string& path, int gpu_layers, int threads) {
  start_backend();
  if (gpu_layers > 0 && !llama_supports_gpu_offload()) {
    return fail(
        Error::Code::BadInput,
        "gpu-layers: this deem is built without a GPU backend; DEEM_LLAMA_CMAKE_ARGS in the "
        "README builds one");
  }
  if (threads < 0 || threads > kMostThreads) {
    return fail(Error::Code::BadInput,
                "threads: 1 to " + std::to_string(kMostThreads) + ", or 0 for the machine's cores");
  }
  if (auto magic = check_magic(path); !magic) return fail(magic.error());
  take_complaint();
  LoadedModel loaded;
  loaded.offloaded = gpu_layers != 0 && llama_supports_gpu_offload();
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = gpu_layers;
  loaded.model.reset(llama_model_load_from_file(path.c_str(), params));
  if (!loaded.model) {
    const std::string why = take_complaint();
    return fail(Error::Code::Corrupt, path + ": " + (why.empty() ? "can not be loaded" : why));
  }
  const llama_model* model = loaded.model.get();
  if (llama_model_has_encoder(model) || !llama_model_has_decoder(model) ||
      llama_model_is_diffusion(model)) {
    return fail(Error::Code::Unsupported, path + ": not a model that writes text left to right");
  }
  std::array<char, 256> description{};
  llama_model_desc(model, description.data(), description.size());
  loaded.description = description.data();

  const auto weights = read_weights(path);
  if (!weights || loaded.offloaded) return loaded;
  loaded.full_precision = weights->plain;
  if (!weights->quantised || weights->count * 4 > free_memory() / 3) return loaded;
  if (const auto wide = widen(path, usable_threads(threads))) {
    ModelPtr widened(llama_model_load_from_file(wide->path.c_str(), params));
    if (widened) {
      loaded.model = std::move(widened);
      loaded.full_precision = true;
    }
  }
  take_complaint();
  return loaded;
}

Result<ContextShape> plan_context(const LoadedModel& loaded, std::int64_t asked) {
  const llama_model& model = *loaded.model;
  constexpr std::int64_t kSmallest = 16;
  constexpr std::int64_t kRoom = 2048;             // cells for branches beside one full request
  constexpr std::int64_t kStep = 256;              // llama.cpp rounds cells up to this
  constexpr std::int64_t kScoreBytes = 128 << 20;  // of the rows of scores one call gives
  const std::int64_t trained = llama_model_n_ctx_train(&model);
  const std::int64_t per_token = std::max<std::int64_t>(1, memory_per_token(loaded));
  const std::int64_t fits = free_memory() / 4 * 3 / per_token - kRoom;
  if (asked != 0 && asked < kSmallest) {
    return fail(Error::Code::BadInput, "context: " + std::to_string(asked) +
                                           " tokens is too small; the least is " +
                                           std::to_string(kSmallest));
  }
  if (asked > fits) {
    return fail(Error::Code::BadInput, "context: " + std::to_string(asked) +
                                           " tokens do not fit in memory; about " +
                                           std::to_string(fits) + " do");
  }
  ContextShape shape;
  shape.context = asked != 0 ? asked : std::max(kSmallest, std::min(trained, fits / 3));
  shape.shares_prefixes = !llama_model_is_recurrent(&model) && !llama_model_is_hybrid(&model);
  shape.sequences = shape.shares_prefixes ? 64 : 1;
  const std::int64_t cells = shape.context + (shape.shares_prefixes ? kRoom : 0);
  shape.cells = static_cast<std::uint32_t>((cells + kStep - 1) / kStep * kStep);
  const std::int64_t row = std::int64_t{4} * llama_vocab_n_tokens(llama_model_get_vocab(&model));
  const std::int64_t rows =
      std::clamp<std::int64_t>(kScoreBytes / row, shape.sequences, kBatchTokens);
  shape.outputs = static_cast<std::uint32_t>((rows + 3) / 4 * 4);
  return shape;
}

Result<ContextPtr> make_context(const LoadedModel& loaded, const ContextShape& shape, int threads) {
  take_complaint();
  llama_context_params params = llama_context_default_params();
  params.n_ctx = shape.cells;
  params.n_batch = kBatchTokens;
  params.n_ubatch = kBatchTokens;
  params.n_seq_max = shape.sequences;
  params.n_outputs_max = shape.outputs;
  params.n_threads = usable_threads(threads);
  params.n_threads_batch = params.n_threads;
  params.kv_unified = true;  // branches share the cells of their prefix
  params.swa_full = true;    // a prefix stays whole, so that later branches can start anywhere
  params.no_perf = true;
  const llama_context_params usual = params;
  if (loaded.full_precision) {
    // Nothing is rounded on the way, so what is left is the order of sums: 1e-5 in a logprob.
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.type_k = GGML_TYPE_F32;
    params.type_v = GGML_TYPE_F32;
  } else if (!loaded.offloaded) {
    // Activations are rounded, which makes much of the smallest difference. llama.cpp has three
    // forms of attention for CPUs and picks by the size of the batch, each with an order of sums of
    // its own; for unlike types of keys and values only the plain one, which goes cell by cell and
    // skips what is not the token's. So scores depend on the path alone, for some speed.
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    params.type_k = GGML_TYPE_F16;
    params.type_v = GGML_TYPE_BF16;
  }
  ContextPtr context(llama_init_from_model(loaded.model.get(), params));
  // Some architectures take only one kind of attention or type.
  if (!context) context.reset(llama_init_from_model(loaded.model.get(), usual));
  if (!context) {
    const std::string why = take_complaint();
    return fail(Error::Code::Unavailable,
                "no context of " + std::to_string(shape.context) +
                    " tokens: " + (why.empty() ? "llama.cpp gave no reason" : why));
  }
  return context;
}

std::string engine_build() {
  return std::string("llama.cpp ") + llama_version() + ", ggml " + ggml_version();
}

}  // namespace deem::seat::local
