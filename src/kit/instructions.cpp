#include "kit/fields.h"
#include "kit/formats.h"

namespace deem::kit {

std::optional<decision::Template> parse_instructions(Draft& draft, Origin at,
                                                     std::string_view text) {
  if (text.empty()) return std::nullopt;
  auto parsed = decision::Template::parse(text);
  if (!parsed) {
    draft.refuse(at, "instructions: " + parsed.error().message);
    return std::nullopt;
  }
  if (parsed->uses_option() || parsed->uses("options") || parsed->uses("instructions")) {
    draft.refuse(at, "instructions: may use {question}, {state} and {meta.NAME} only");
    return std::nullopt;
  }
  return std::move(*parsed);
}

std::string fill_instructions(const decision::Template& common, std::string_view state,
                              const Item& item) {
  decision::Template::Fields fields;
  fields.state = state;
  fields.question = item.question.question;
  fields.meta = &item.meta;
  return common.fill(fields);
}

}  // namespace deem::kit
