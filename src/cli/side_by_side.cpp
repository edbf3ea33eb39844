#include "cli/side_by_side.h"

#include "base/text.h"

namespace deem::cli {
namespace {

std::string harness_of(const NamedRun& named) {
  if (!named.run || !named.run->receipt.is_object()) return {};
  return named.run->receipt.get_string("harness").value_or("");
}

/// Enough of a digest to tell two apart, its kind in front or not.
std::string shortened(const std::string& digest) {
  const std::size_t colon = digest.find(':');
  const std::size_t begin = colon == std::string::npos ? 0 : colon + 1;
  return printable(digest.substr(0, begin + 16), 60);
}

}  // namespace

std::vector<Hindrance> side_by_side(const NamedRun& a, const NamedRun& b) {
  using What = Hindrance::What;
  std::vector<Hindrance> out;
  const auto differ = [&](What what, const std::string& name, const std::string& x,
                          const std::string& y) {
    if (x == y) return;
    out.push_back({what, a.path + " and " + b.path + ": different " + name + " (" + shortened(x) +
                             ", " + shortened(y) + ")"});
  };
  if (a.run && b.run) {
    differ(What::Kit, "kits", a.run->kit_digest, b.run->kit_digest);
    differ(What::Version, "versions of deem", a.run->deem, b.run->deem);
  }
  for (const NamedRun* one : {&a, &b}) {
    if (!harness_of(*one).empty()) continue;
    out.push_back(
        {What::Harness, one->path + (one->run ? ": does not tell the harness it was measured by"
                                              : ": no run.json tells its kit and harness")});
    return out;
  }
  differ(What::Harness, "harness", harness_of(a), harness_of(b));
  return out;
}

}  // namespace deem::cli
