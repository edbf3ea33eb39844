#include "record/receipt.h"

#include <algorithm>
#include <set>

namespace deem::record {
namespace {

using codec::Json;

std::string shown(const Json* value) {
  if (value == nullptr || value->is_null()) return "not told";
  if (const auto* text = value->is_string() ? value : nullptr) {
    return text->as_string().empty() ? "not told" : text->as_string();
  }
  return codec::dump_json(*value, {.ascii = false});
}

class Differences {
 public:
  void add(const std::string& what, const Json* a, const Json* b, bool must) {
    const bool none_a = a == nullptr || a->is_null(), none_b = b == nullptr || b->is_null();
    if (none_a && none_b) return;
    if (!none_a && !none_b && *a == *b) return;
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
    const auto find = [](const Json& in, const std::string& name) {
      return in.is_object() ? in.find(name) : nullptr;
    };
    for (const std::string& name : names) add(where + name, find(a, name), find(b, name), must);
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

void compare_arms(const RunRecord& a, const RunRecord& b, Differences& out) {
  for (const ArmRecord& arm : a.arms) {
    const auto other = std::ranges::find(b.arms, arm.name, &ArmRecord::name);
    const std::string where = "arm " + arm.name;
    if (other == b.arms.end()) {
      out.add(where, "there", "absent", false);
      continue;
    }
    out.add(where + ": mode", arm.mode, other->mode, true);
    const bool same_weights =
        arm.identity.is_object() && other->identity.is_object() &&
        arm.identity.get_string("digest") &&
        arm.identity.get_string("digest") == other->identity.get_string("digest");
    for (const Json* one : {&arm.identity, &other->identity}) {
      if (!one->is_object()) continue;
      for (const auto& [name, value] : one->members()) {
        const Json* then = arm.identity.is_object() ? arm.identity.find(name) : nullptr;
        const Json* now = other->identity.is_object() ? other->identity.find(name) : nullptr;
        if (one == &other->identity && then != nullptr) continue;  // said already
        // One digest is one set of weights, whatever they are called where.
        const bool name_only = name == "root" || name == "detail" || name == "model";
        out.add(where + ": " + name, then, now, decides(name) && !(same_weights && name_only));
      }
    }
    Json then = arm.settings, now = other->settings;
    for (Json* settings : {&then, &now}) {
      if (settings->is_object()) {
        std::erase_if(settings->members(), [](const auto& m) { return m.first == "seat"; });
      }
    }
    out.members(where + ": ", then, now, true);
    out.add(where + ": letters", &arm.letter_proof, &other->letter_proof, false);
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

std::vector<ReceiptDifference> compare_receipts(const RunRecord& a, const RunRecord& b) {
  Differences out;
  out.add("kit digest", a.kit_digest, b.kit_digest, true);
  out.add("kit", a.kit_name + " " + a.kit_version, b.kit_name + " " + b.kit_version, false);
  out.add("deem", a.deem, b.deem, true);
  const auto of = [](const Json& in, const char* name) {
    return in.is_object() ? in.find(name) : nullptr;
  };
  out.add("harness", of(a.receipt, "harness"), of(b.receipt, "harness"), true);
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
