#include "seat/fake/fake_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "decision/question.h"
#include "seat/doctor/sanity_items.h"

namespace deem::seat {
namespace {

constexpr std::string_view kUser = "<|im_start|>user\n";
constexpr std::string_view kAssistant = "<|im_start|>assistant\n";
constexpr std::string_view kClosed = "<think>\n\n</think>\n\n";

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

/// A number in [0, 1) from a text's hash, mixed so that near ones give far numbers.
double chance(std::uint64_t hashed, std::uint64_t salt) {
  std::uint64_t h = hashed ^ (salt + 1) * 0x9e3779b97f4a7c15ULL;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return static_cast<double>((h ^ (h >> 33)) >> 11) * 0x1p-53;
}

std::string_view last_user_turn(std::string_view text) {
  const auto at = text.rfind(kUser);
  if (at == std::string_view::npos) return text;
  text.remove_prefix(at + kUser.size());
  return text.substr(0, text.find("<|im_end|>"));
}

/// How many letters the prompt lists, in order, as "[A] " at the start of lines; 0: there is no
/// list. The last one counts.
std::size_t listed_letters(std::string_view user) {
  const auto start = user.rfind("\n[A] ");
  if (start == std::string_view::npos) return 0;
  std::size_t n = 0;
  while (n < decision::kLetters) {
    const std::string mark = std::string("\n[") + decision::letter(n) + "] ";
    if (user.find(mark, start) == std::string_view::npos) break;
    ++n;
  }
  return n;
}

/// The item whose state and question a text holds.
const SanityItem* item_in(std::string_view text) {
  const auto found = std::ranges::find_if(kSanityItems, [&](const SanityItem& item) {
    return text.find(item.question) != std::string_view::npos &&
           text.find(item.state) != std::string_view::npos;
  });
  return found == std::end(kSanityItems) ? nullptr : found;
}

/// What is missing of the right answer to an item that a plain text asks; "": nothing, or it asks
/// none.
std::string rest_of_answer(std::string_view text) {
  constexpr std::string_view kCue = "\nAnswer:";
  const auto cue = text.rfind(kCue);
  if (cue == std::string_view::npos) return "";
  const SanityItem* item = item_in(text.substr(0, cue));
  if (item == nullptr) return "";
  const std::string answer = " " + std::string(item->options[item->label]);
  const std::string_view said = text.substr(cue + kCue.size());
  return answer.starts_with(said) ? answer.substr(said.size()) : "";
}

void normalise(std::vector<double>& logits) {
  const double top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - top);
  for (double& z : logits) z -= top + std::log(sum);
}

}  // namespace

FakeModel::FakeModel(FakeModelOptions options) : options_(std::move(options)) {
  opening_ = std::string(kAssistant) + (options_.space_before_reply ? " " : "");
  for (int byte = 0; byte < 256; ++byte) pieces_.emplace_back(1, static_cast<char>(byte));
  for (const char* special : {"<|im_start|>", "<|im_end|>", "<think>", "</think>"})
    pieces_.emplace_back(special);
  for (std::size_t i = 0; i < decision::kLetters; ++i)
    pieces_.push_back(std::string(" ") + decision::letter(i));
  for (const char* word : {"Based", "B)", "Answer", "The"}) pieces_.emplace_back(word);
  pieces_.emplace_back("<s>");
  DEEM_CHECK(pieces_.size() == kBos + 1);
  for (std::size_t id = 256; id < pieces_.size(); ++id) {
    long_pieces_.emplace(pieces_[id], static_cast<std::int64_t>(id));
    begins_[static_cast<unsigned char>(pieces_[id][0])] = true;
    longest_ = std::max(longest_, pieces_[id].size());
  }
}

FakeModel::Ids FakeModel::encode(std::string_view text, bool special) const {
  Ids out;
  while (!text.empty()) {
    std::optional<std::int64_t> found;
    const bool maybe = begins_[static_cast<unsigned char>(text[0])];
    for (std::size_t n = maybe ? std::min(longest_, text.size()) : 0; n > 1 && !found; --n) {
      const auto piece = long_pieces_.find(text.substr(0, n));
      if (piece != long_pieces_.end() && (special || !is_special(piece->second)))
        found = piece->second;
    }
    out.push_back(found.value_or(static_cast<unsigned char>(text[0])));
    text.remove_prefix(piece(out.back()).size());
  }
  return out;
}

std::string FakeModel::decode(const Ids& ids) const {
  std::string out;
  for (const std::int64_t id : ids) out += piece(id);
  return out;
}

std::string FakeModel::render(const std::vector<Turn>& turns, Ending ending, bool thinking) const {
  std::string out;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool last = i + 1 == turns.size();
    const bool reply = turns[i].role == "assistant";
    out += "<|im_start|>" + turns[i].role + "\n";
    if (reply && options_.space_before_reply) out += ' ';
    if (reply && last && !thinking) out += kClosed;
    out += turns[i].text;
    if (!last || ending != Ending::Inside) out += "<|im_end|>\n";
  }
  if (ending == Ending::Prompt) {
    out += opening_;
    if (!thinking) out += kClosed;
  }
  return out;
}

std::optional<std::vector<double>> FakeModel::letters_of_item(std::string_view user, std::size_t n,
                                                              FakeMind mind) const {
  const SanityItem* item = item_in(user);
  if (item == nullptr || n != item->size) return std::nullopt;
  std::size_t said = 0;
  if (mind == FakeMind::Knows) {
    const std::string_view label = item->options[item->label];
    for (std::size_t i = 0; i < n; ++i) {
      const std::string line =
          std::string("\n[") + decision::letter(i) + "] " + std::string(label) + ":";
      if (user.find(line) != std::string_view::npos) said = i;
    }
  } else if (mind == FakeMind::Wanders) {
    said =
        std::min(n - 1, static_cast<std::size_t>(chance(hash(user), 7) * static_cast<double>(n)));
  }
  std::vector<double> out(n, -9.0);
  out[said] = std::log(options_.letter_mass);
  if (mind == FakeMind::Even) {
    std::ranges::fill(out, std::log(options_.letter_mass / static_cast<double>(n)));
  }
  return out;
}

bool FakeModel::begins_reply(std::string_view text) const {
  return text.ends_with(opening_) || text.ends_with(opening_ + std::string(kClosed));
}

std::vector<double> FakeModel::next(std::string_view text, FakeMind mind) const {
  std::vector<double> logits(pieces_.size());
  const auto opened = text.rfind(opening_);
  std::string_view reply =
      opened == std::string_view::npos ? text : text.substr(opened + opening_.size());
  const bool closed = opened != std::string_view::npos && reply.starts_with(kClosed);
  if (closed) reply.remove_prefix(kClosed.size());
  const std::string_view user = last_user_turn(text);
  const std::size_t n = listed_letters(user);
  if (opened == std::string_view::npos || reply.size() > 1 || (closed && n == 0)) {
    // Inside a text: any token, by the bytes just before.
    const std::uint64_t before =
        hash(text.substr(text.size() - std::min<std::size_t>(text.size(), 24)));
    for (std::size_t id = 0; id < logits.size(); ++id) logits[id] = 6 * chance(before, id);
    if (reply.size() > 16) logits[kTurnEnd] = 12;
    const std::string rest = mind == FakeMind::Knows ? rest_of_answer(text) : "";
    if (!rest.empty()) logits[static_cast<std::size_t>(encode(rest, false)[0])] = 16;
    normalise(logits);
    return logits;
  }
  const std::uint64_t asked = hash(user);
  for (std::size_t id = 0; id < logits.size(); ++id) logits[id] = -14 + 2 * chance(asked, id);
  if (reply.size() == 1) {
    logits[kTurnEnd] = 0;
    normalise(logits);
    return logits;
  }
  if (opened != std::string_view::npos && !closed) {
    logits[kThink] = 0;
    normalise(logits);
    return logits;
  }
  std::vector<double> letters;
  const auto known = letters_of_item(user, n, mind);
  if (known) {
    letters = *known;
  } else if (options_.letters) {
    letters = options_.letters(user, n);
  } else {
    for (std::size_t i = 0; i < n; ++i) letters.push_back(4 * chance(asked, 1'000'000 + i));
  }
  letters.resize(n, -20);
  if (!options_.letters && !known) {
    normalise(letters);
    for (double& lp : letters) lp += std::log(options_.letter_mass);
  }
  double mass = 0;
  for (std::size_t i = 0; i < n; ++i) mass += std::exp(letters[i]);
  // The rest of the probability goes to everything else, a little more of it to look-alikes.
  for (std::size_t i = 0; i < n; ++i) logits[260 + i] = -11 + letters[i];
  for (std::size_t i = 0; i < n; ++i) {
    logits[static_cast<unsigned char>(decision::letter(i))] = -1e3;
  }
  normalise(logits);
  const double rest = std::log(std::max(1e-6, 1 - mass));
  for (double& z : logits) z += rest;
  for (std::size_t i = 0; i < n; ++i) {
    logits[static_cast<unsigned char>(decision::letter(i))] = letters[i];
  }
  return logits;
}

FakeModel::Ids FakeModel::write(std::string text, std::size_t most, bool& ended,
                                FakeMind mind) const {
  Ids out;
  ended = false;
  while (out.size() < most) {
    const auto scores = next(text, mind);
    const auto best = std::ranges::max_element(scores) - scores.begin();
    ended = best == kTurnEnd;
    if (ended) break;
    // A thinking channel that opens closes again after a word, and the letter follows.
    if (best == kThink) {
      const Ids thought = encode("<think>Hm</think>\n\n", true);
      for (const std::int64_t id : thought) {
        if (out.size() < most) out.push_back(id);
      }
      text += std::string(kClosed);
      continue;
    }
    out.push_back(best);
    text += piece(best);
  }
  return out;
}

}  // namespace deem::seat
