#include "record/receipt.h"

#include <algorithm>
#include <set>

namespace deem::record {
namespace {

using codec::Json;

/// Whether a record says anything there: "" says as little as nothing.
bool told(const Json* value) {
  return value != nullptr && !value->is_null() &&
         !(value->is_string() && value->as_string().empty());
}

std::string shown(const Json* value) {
  if (!told(value)) return "not told";
  return value->is_string() ? value->as_string() : codec::dump_json(*value, {.ascii = false});
}

const Json* member(const Json& in, std::string_view name) {
  return in.is_object() ? in.find(name) : nullptr;
}

class Differences {
 public:
  void add(const std::string& what, const Json* a, const Json* b, bool must) {
    if (!told(a) && !told(b)) return;
    if (told(a) && told(b) && *a == *b) return;
    out_.push_back({what, shown(a), shown(b), must});
  }
  void add(const std::string& what, const std::string& a, const std::string& b, bool must) {
    const Json x(a), y(b);
    add(what, &x, &y, must);
  }
  /// Every member that either has.
  void members(const std::string& where, const Json& a, const Json& b, bool must) {
    std::set<std::string> names;
    for (const Json* one : {&a, &b}) {
      if (!one->is_object()) continue;
      for (const auto& [name, value] : one->members()) names.insert(name);
    }
    for (const std::string& name : names) add(where + name, member(a, name), member(b, name), must);
  }
  std::vector<ReceiptDifference> take() { return std::move(out_); }

 private:
  std::vector<ReceiptDifference> out_;
};

/// What decides a model's answers; the rest of an identity (address, build) may differ.
bool decides(const std::string& member) {
  return member == "digest" || member == "root" || member == "template_sha256" ||
         member == "detail" || member == "model";
}

/// What serves the arm: the container's own id tells nothing.
void compare_processes(const std::string& where, const Json& a, const Json& b, Differences& out) {
  out.add(where + ": runtimes", member(a, "runtimes"), member(b, "runtimes"), false);
  static const Json kNone;
  const auto image = [](const Json& process) -> const Json& {
    const Json* found = member(process, "image");
    return found != nullptr ? *found : kNone;
  };
  for (const char* part : {"digest", "name"}) {
    out.add(where + ": image " + part, member(image(a), part), member(image(b), part), false);
  }
}

/// The digest of an arm's weights: the seat's own, else that of the file its server names.
const Json* weights_of(const ArmRecord& arm) {
  const Json* own = member(arm.identity, "digest");
  if (told(own)) return own;
  const Json* weights = member(arm.process, "weights");
  return weights != nullptr ? member(*weights, "sha256") : nullptr;
}

void compare_arms(const RunRecord& a, const RunRecord& b, Differences& out) {
  for (const ArmRecord& arm : a.arms) {
    const auto other = std::ranges::find(b.arms, arm.name, &ArmRecord::name);
    const std::string where = "arm " + arm.name;
    if (other == b.arms.end()) {
      out.add(where, "there", "absent", false);
      continue;
    }
    out.add(where + ": mode", arm.mode, other->mode, true);
    const Json* weights = weights_of(arm);
    const Json* others = weights_of(*other);
    if (!told(member(arm.identity, "digest")) && told(weights) && told(others)) {
      out.add(where + ": weights", weights, others, true);
    }
    const bool same_weights = told(weights) && told(others) && *weights == *others;
    for (const Json* one : {&arm.identity, &other->identity}) {
      if (!one->is_object()) continue;
      for (const auto& [name, value] : one->members()) {
        const Json* then = member(arm.identity, name);
        const Json* now = member(other->identity, name);
        if (one == &other->identity && then != nullptr) continue;  // said already
        // One digest is one set of weights, whatever they are called where.
        const bool name_only = name == "root" || name == "detail" || name == "model";
        out.add(where + ": " + name, then, now, decides(name) && !(same_weights && name_only));
      }
    }
    Json then = arm.settings, now = other->settings;
    for (Json* settings : {&then, &now}) {
      if (settings->is_object()) {
        // Another box has its seat at another place and other boards.
        std::erase_if(settings->members(),
                      [](const auto& m) { return m.first == "seat" || m.first == "boards"; });
      }
    }
    out.members(where + ": ", then, now, true);
    out.add(where + ": letters", &arm.letter_proof, &other->letter_proof, false);
    compare_processes(where, arm.process, other->process, out);
  }
  for (const ArmRecord& arm : b.arms) {
    if (std::ranges::find(a.arms, arm.name, &ArmRecord::name) == a.arms.end()) {
      out.add("arm " + arm.name, "absent", "there", false);
    }
  }
}

/// Boards by place: two boxes have other boards, so it is name, cap and driver that tell.
void compare_boards(const Json& a, const Json& b, Differences& out) {
  static const std::vector<Json> kNone;
  const auto list = [](const Json& in) -> const std::vector<Json>& {
    const Json* boards = in.is_object() ? in.find("boards") : nullptr;
    return boards != nullptr && boards->is_array() ? boards->items() : kNone;
  };
  const std::vector<Json>&x = list(a), &y = list(b);
  out.add("boards", std::to_string(x.size()), std::to_string(y.size()), false);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    out.members("board " + std::to_string(i + 1) + ": ", x[i], y[i], false);
  }
}

}  // namespace

std::string receipts_unknown(const RunRecord& a, const RunRecord& b) {
  for (const auto& [run, name] : {std::pair(&a, "the first run"), {&b, "the second run"}}) {
    const Json* harness = member(run->receipt, "harness");
    if (harness == nullptr || !harness->is_string() || !told(harness)) {
      return std::string(name) + " does not tell its harness";
    }
    if (run->kit_digest.empty()) return std::string(name) + " does not tell its kit's digest";
    for (const ArmRecord& arm : run->arms) {
      if (!told(member(arm.identity, "digest")) && !told(member(arm.identity, "model")) &&
          !told(member(arm.identity, "root"))) {
        return std::string(name) + ": arm " + arm.name + " does not tell its model";
      }
    }
  }
  const bool any = std::ranges::any_of(a.arms, [&](const ArmRecord& arm) {
    return std::ranges::find(b.arms, arm.name, &ArmRecord::name) != b.arms.end();
  });
  return any ? "" : "they have no arm of one name";
}

std::vector<ReceiptDifference> compare_receipts(const RunRecord& a, const RunRecord& b) {
  Differences out;
  out.add("kit digest", a.kit_digest, b.kit_digest, true);
  out.add("kit", a.kit_name + " " + a.kit_version, b.kit_name + " " + b.kit_version, false);
  out.add("deem", a.deem, b.deem, true);
  out.add("harness", member(a.receipt, "harness"), member(b.receipt, "harness"), true);
  out.members("setting ", a.settings, b.settings, true);
  compare_arms(a, b, out);
  out.add("host", a.host, b.host, false);
  out.add("cpu", a.cpu, b.cpu, false);
  out.add("cores", std::to_string(a.cores), std::to_string(b.cores), false);
  Json then = a.receipt, now = b.receipt;
  for (Json* receipt : {&then, &now}) {
    if (receipt->is_object()) {
      std::erase_if(receipt->members(),
                    [](const auto& m) { return m.first == "harness" || m.first == "boards"; });
    }
  }
  out.members("", then, now, false);
  compare_boards(a.receipt, b.receipt, out);
  return out.take();
}

}  // namespace deem::record
