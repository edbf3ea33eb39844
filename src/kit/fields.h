#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "decision/question.h"
#include "kit/draft.h"

namespace deem::kit {

/// "line 3 column 9: what" or "line:3:9: what" taken apart: the line (0 when there is none) and
/// what.
std::pair<std::size_t, std::string> split_position(std::string_view message);

/// Parses JSON of a kit and refuses what is none, at its line; members that come twice are
/// refused too. `first_line` is the line the text begins on.
std::optional<codec::Json> parse_checked(Draft& draft, std::size_t file, std::string_view text,
                                         std::size_t first_line);

/// `name` in quotes, made fit for a terminal line.
std::string in_quotes(std::string_view name);

/// ", did you mean "label"?" when one of `known` is near, else "".
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

/// Reads one foreign object member by member; every problem becomes a refusal at `at` that begins
/// with `what` ("item a-001").
class Fields {
 public:
  Fields(Draft& draft, Origin at, const codec::Json& object, std::string what)
      : draft_(draft), at_(at), object_(object), what_(std::move(what)) {}

  /// A text member; none when absent or null. Another kind is refused.
  std::optional<std::string> text(std::string_view key) const;
  /// The same, refused when absent.
  std::optional<std::string> needed_text(std::string_view key) const;
  /// A text, or a number or true/false as it is printed in JSON: ids and labels of foreign files.
  std::optional<std::string> scalar(std::string_view key) const;
  const codec::Json* find(std::string_view key) const { return object_.find(key); }
  Origin at() const { return at_; }

  /// Refuses every member not in `known`.
  void refuse_unknown(std::span<const std::string_view> known) const;
  /// Members not in `known`, as an object; one that looks like a slip for an absent known member
  /// is refused. Null when there are none.
  codec::Json take_rest(std::span<const std::string_view> known) const;

  /// A reader of an object within this one, at the same place.
  Fields inside(const codec::Json& object, std::string_view name) const {
    return {draft_, at_, object, what_ + ": " + std::string(name)};
  }

  void refuse(const std::string& message) const;
  void warn(const std::string& message) const;

 private:
  Draft& draft_;
  Origin at_;
  const codec::Json& object_;
  std::string what_;
};

/// A string as it is; a number or a truth value as JSON prints it; else none.
std::optional<std::string> print_scalar(const codec::Json& value);

/// Fills `meta` (strings, numbers, truth values) and `raw_meta` of an item from `value`, an object
/// or null.
void set_meta(Item& item, codec::Json value);

/// An option list in any of the written forms: ["key", "description"], ["key", "description",
/// "text"], {"key", "description", "text"}, or "key" alone, which `bare` turns into an option
/// (none: refused by `bare` itself). Problems are refusals of `fields`; a list is returned only
/// whole.
template <class Bare>
std::optional<std::vector<decision::Option>> read_options(const Fields& fields,
                                                          const codec::Json& list, Bare bare);

/// One entry of an option list that is no bare key.
std::optional<decision::Option> read_option(const Fields& fields, const codec::Json& entry);

/// An option known by its key only: the description is the key with "_" as spaces.
decision::Option option_from_key(std::string_view key);

template <class Bare>
std::optional<std::vector<decision::Option>> read_options(const Fields& fields,
                                                          const codec::Json& list, Bare bare) {
  if (!list.is_array()) {
    fields.refuse("options must be a list");
    return std::nullopt;
  }
  std::vector<decision::Option> options;
  bool whole = true;
  for (const codec::Json& entry : list.items()) {
    std::optional<decision::Option> option =
        entry.is_string() ? bare(entry.as_string()) : read_option(fields, entry);
    if (option) {
      options.push_back(std::move(*option));
    } else {
      whole = false;
    }
  }
  if (!whole) return std::nullopt;
  return options;
}

}  // namespace deem::kit
