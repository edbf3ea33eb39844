#include "seat/seat.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "seat/remote.h"
#ifdef DEEM_LOCAL
#include "seat/local_seat.h"
#endif

namespace deem::seat {
namespace {

using Make = Result<std::unique_ptr<Seat>> (*)(const SeatSpec&);

Result<std::unique_ptr<Seat>> make_local(const SeatSpec& spec) {
#ifdef DEEM_LOCAL
  return make_local_seat(spec);
#else
  return fail(
      Error::Code::Unsupported,
      spec.address + ": this build has no engine of its own (configured with DEEM_LOCAL=OFF)");
#endif
}

constexpr std::array<std::pair<std::string_view, Make>, 9> kKinds = {{
    {"local", make_local},
    {"vllm", make_vllm_seat},
    {"ollama", make_ollama_seat},
    {"llama-server", make_llama_server_seat},
    {"openai", make_openai_seat},
    {"sglang", make_sglang_seat},
    {"lmstudio", make_lmstudio_seat},
    {"systemone", make_native_seat},
    {"decisions", make_native_seat},
}};

std::string kind_names() {
  std::string out;
  for (const auto& [name, make] : kKinds) out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

std::string suggestion(std::string_view kind) {
  constexpr std::size_t kClose = 3;
  std::size_t best = kClose;
  std::string_view name;
  for (const auto& [candidate, make] : kKinds) {
    const std::size_t distance = edit_distance(kind, candidate);
    if (distance < best) {
      best = distance;
      name = candidate;
    }
  }
  return name.empty() ? "" : "; did you mean \"" + std::string(name) + "\"?";
}

std::unexpected<Error> unknown_kind(std::string_view kind) {
  return fail(Error::Code::BadInput, "no seat kind \"" + printable(kind, 40) + "\" (there are " +
                                         kind_names() + ")" + suggestion(to_lower(kind)));
}

const Make* find_kind(std::string_view kind) {
  const auto found = std::ranges::find(kKinds, kind, &std::pair<std::string_view, Make>::first);
  return found == kKinds.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<Result<PositionReply>> Seat::first_positions(std::span<const PositionRequest> requests,
                                                         const Schedule& schedule) {
  std::vector<Result<PositionReply>> out;
  out.reserve(requests.size());
  for (const PositionRequest& request : requests) out.push_back(first_position(request, schedule));
  return out;
}

std::vector<Result<LikelihoodReply>> Seat::likelihoods(std::span<const LikelihoodRequest> requests,
                                                       const Schedule& schedule) {
  std::vector<Result<LikelihoodReply>> out;
  out.reserve(requests.size());
  for (const LikelihoodRequest& request : requests) out.push_back(likelihood(request, schedule));
  return out;
}

std::string seat_forms() {
  std::string out;
  for (const auto& [name, make] : kKinds) {
    out.append(out.empty() ? "" : ", ").append(name);
    out += name == "local" ? ":FILE.gguf" : ":URL";
  }
  return out;
}

bool is_native_kind(std::string_view kind) { return kind == "systemone" || kind == "decisions"; }

Result<SeatSpec> parse_seat(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (colon == std::string_view::npos || find_kind(kind) == nullptr) {
    if (kind == "http" || kind == "https" || kind == "unix") {
      return fail(Error::Code::BadInput,
                  "a seat begins with its kind, as in \"vllm:http://127.0.0.1:8000\" (there are " +
                      kind_names() + ")");
    }
    return unknown_kind(kind);
  }
  SeatSpec spec;
  spec.kind = kind;
  spec.address = text.substr(colon + 1);
  if (spec.address.empty()) {
    return fail(
        Error::Code::BadInput,
        spec.kind + ": no " + (kind == "local" ? "model file" : "address") + " after the colon");
  }
  return spec;
}

Result<std::unique_ptr<Seat>> make_seat(const SeatSpec& spec) {
  const Make* make = find_kind(spec.kind);
  if (make == nullptr) return unknown_kind(spec.kind);
  return (*make)(spec);
}

}  // namespace deem::seat
