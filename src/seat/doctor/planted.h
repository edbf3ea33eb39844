#pragma once

// For tests: which faults are planted, how a diagnosis must name each, and servers that are well.

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seat/doctor/doctor.h"
#include "seat/fake/fake_server.h"

namespace deem::seat {

struct KindCase {
  const char* name;
  ServerKind kind;
};
inline constexpr std::array<KindCase, 6> kAllKinds = {{{"vllm", ServerKind::Vllm},
                                                       {"ollama", ServerKind::Ollama},
                                                       {"llama-server", ServerKind::LlamaServer},
                                                       {"openai", ServerKind::OpenAi},
                                                       {"sglang", ServerKind::Sglang},
                                                       {"lmstudio", ServerKind::LmStudio}}};

/// What a fault touches, and so what it hides.
enum class Family {
  Prompt,   // seen without an answer: tokens, names
  Bos,      // the same, of the first token
  Service,  // seen in any answer
  Over,     // the same, of one to an over-long prompt
  Reply,    // there is no answer: hides all but Prompt and Bos
  Proof,    // letters have no ids: hides Ids
  Shape,    // there is no list: hides what is seen in one
  Values,   // the numbers are none
  Scale,    // they are other logarithms: seen where every token is listed and nothing else is odd
  First,    // position 0 holds something else
  Written,  // the written token against its list
  Again,    // another time, another number
  Count,    // how many entries
  Ids,      // what is asked by ids
  Later,    // after position 0
  Answer,   // what is answered
};

/// What becomes of a decision that the fault strikes.
enum class RowFate {
  Void,     // the reading has a cause
  Refused,  // an error
  Noted,    // the row carries it: another model's name, another count of tokens
  Passes,   // nothing tells but a diagnosis
};

struct Planted {
  std::string name;
  Fault fault;
  Family family;
  const char* probe;  // whose finding names it
  const char* words;  // in that finding, a regular expression
  RowFate row;
  std::vector<ServerKind> kinds;  // that can commit it
  FakeOptions options;

  bool suits(ServerKind kind) const;
};
const std::vector<Planted>& planted_faults();

/// Whether `a` hides `b`.
bool hides(const Planted& a, const Planted& b);
/// A kind that both suit, by turns; none: no kind suits both.
std::optional<ServerKind> kind_for(const Planted& a, const Planted& b, std::size_t turn);

/// Options that both need.
FakeOptions merged(const Planted& a, const Planted& b);

struct Healthy {
  std::string name;
  std::vector<ServerKind> kinds;
  FakeOptions options;
  std::vector<Fault> harmless;  // not as usual, and nothing wrong

  bool suits(ServerKind kind) const;
};
std::vector<Healthy> healthy_servers();

}  // namespace deem::seat
