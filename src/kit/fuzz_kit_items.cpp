#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kit/deem_items.h"
#include "kit/formats.h"

// The first byte picks what the rest is: states, items of our own format on a small kit, or
// one-item-a-line JSONL. Whatever was read must also stand the checks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deem::kit;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Draft draft;
  draft.kit.path = "fuzz.jsonl";
  const std::size_t file = draft.add_file("fuzz.jsonl");
  switch (data[0] % 3) {
    case 0:
      read_states(draft, file, bytes);
      break;
    case 1: {
      draft.add_state({.id = "mill",
                       .text = "# Mill\n\n## Gate\n\nOak.",
                       .sha256 = {},
                       .sections = {{"gate", "Gate", "Oak."}}},
                      {file, 0});
      TaskRules rules{.instructions = {}, .options = {}, .at = {}};
      rules.options_from = TaskRules::From::Sections;
      rules.instructions = parse_instructions(draft, {file, 0}, "Where? {question} {meta.n}");
      rules.task = draft.add_task(
          {.name = "t", .type = deem::decision::QuestionType::Choice, .readings = {}, .items = {}},
          false);
      read_items(draft, rules, {{"ines", "Inês"}}, file, bytes);
      break;
    }
    default:
      load_jsonl(draft, file, bytes, {});
      break;
  }
  finish_draft(draft);
  return 0;
}
