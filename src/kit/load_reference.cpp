#include <algorithm>
#include <utility>

#include "base/text.h"
#include "decision/layout.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/json_scan.h"
#include "kit/manifest.h"
#include "kit/readings.h"
#include "kit/source.h"

// The layout of the reference bench's kit: articles.json (id → state, sections), task_a.json,
// task_b.json, task_c.json (lists of items), manifest.json (digests, roster of task c). Its
// instructions stand in its program, not in its files; they are repeated here to the byte.

namespace deem::kit {
namespace {

constexpr std::string_view kSaidInstructions =
    "Six people are at a dinner table. Which of them said the line below?\nLine: ";
constexpr std::string_view kTable = "A dinner table with six guests: ";

struct Reader {
  Draft& draft;
  KitFolder folder;
  const LoadOptions& options;
  std::vector<std::pair<std::string, std::string>> roster;

  struct File {
    std::size_t file = 0;
    codec::Json json;
    std::vector<std::size_t> lines;  // of each element or member of the outermost value
    Origin at(std::size_t i) const { return {file, i < lines.size() ? lines[i] : 0}; }
  };

  std::optional<File> read(const std::string& name) {
    const auto bytes = folder.read(name);
    if (!bytes) return std::nullopt;
    auto json = parse_checked(draft, bytes->file, bytes->text, 1);
    if (!json) return std::nullopt;
    static constexpr std::string_view kElements[] = {"*"};
    return File{bytes->file, std::move(*json), scan_json(bytes->text, kElements).lines};
  }

  void read_manifest(FileDigests& digests, std::size_t& file) {
    const auto manifest = read("manifest.json");
    if (!manifest) return;
    file = manifest->file;
    const codec::Json& json = manifest->json;
    Kit& kit = draft.kit;
    for (const char* key : {"name", "kit"}) {
      if (auto name = json.get_string(key)) kit.name = *name;
    }
    kit.version = json.get_string("version").value_or("");
    kit.licence = json.get_string("licence").value_or("");
    kit.source = json.get_string("source").value_or(json.get_string("made_by").value_or(""));
    digests = read_file_digests(draft, {file, 0}, json);
    if (digests.empty()) draft.warn({file, 0}, "no digests: nothing says the files are unchanged");
    const codec::Json* guests = json.find("c_roster");
    if (guests == nullptr || !guests->is_array()) return;
    for (const codec::Json& guest : guests->items()) {
      const Fields fields(draft, {file, 0}, guest, "c_roster");
      auto id = fields.needed_text("id");
      auto name = fields.needed_text("name");
      if (!id || !name) continue;
      if (find_guest(*id) != nullptr) fields.refuse("guest " + in_quotes(*id) + " stands twice");
      roster.emplace_back(std::move(*id), std::move(*name));
    }
  }

  const std::string* find_guest(std::string_view id) const {
    const auto guest = std::ranges::find(roster, id, &std::pair<std::string, std::string>::first);
    return guest == roster.end() ? nullptr : &guest->second;
  }

  void read_articles() {
    const auto articles = read("articles.json");
    if (!articles) return;
    if (!articles->json.is_object()) {
      draft.refuse({articles->file, 1}, "must be an object of article id: article");
      return;
    }
    std::size_t i = 0;
    for (const auto& [id, article] : articles->json.members()) {
      read_article(id, article, articles->at(i++));
    }
  }

  void read_article(const std::string& id, const codec::Json& article, Origin at) {
    const Fields fields(draft, at, article, "article " + in_quotes(id));
    if (!article.is_object()) return fields.refuse("must be an object");
    auto text = fields.needed_text("state");
    if (!text) return;
    State state{.id = id, .text = std::move(*text), .sha256 = {}, .sections = {}};
    if (const codec::Json* sections = article.find("sections");
        sections != nullptr && sections->is_array()) {
      for (const codec::Json& section : sections->items()) {
        const Fields part = fields.inside(section, "section");
        auto section_id = part.needed_text("id");
        auto heading = part.needed_text("heading");
        if (section_id && heading) {
          state.sections.push_back({std::move(*section_id), std::move(*heading), {}});
        }
      }
    } else {
      fields.refuse("no list of sections");
    }
    fill_bodies(state.text, state.sections);
    for (const Section& section : state.sections) {
      if (section.body.empty()) {
        fields.warn("section " + in_quotes(section.id) + " has no text below a line \"## " +
                    printable(section.heading, 60) + "\"");
      }
    }
    const std::size_t bytes = state.text.size();
    const std::size_t index = draft.add_state(std::move(state), at);
    const auto sha = article.get_string("state_sha256");
    if (options.verify_digests && sha && *sha != draft.kit.states[index].sha256) {
      fields.refuse("state_sha256 is not the state's");
    }
    const auto size = article.get_int("state_bytes");
    if (size && *size != static_cast<std::int64_t>(bytes)) {
      fields.warn("state_bytes is " + std::to_string(*size) + ", the state has " +
                  std::to_string(bytes));
    }
  }

  void read_task(const std::string& name) {
    const std::string file_name = "task_" + name + ".json";
    if (!folder.has(file_name)) return;
    const auto items = read(file_name);
    if (!items) return;
    if (!items->json.is_array()) {
      draft.refuse({items->file, 1}, "must be a list of items");
      return;
    }
    if (items->json.items().empty()) return;
    Task task{.name = name, .type = decision::QuestionType::Choice, .readings = {}, .items = {}};
    if (name == "a") task.type = decision::QuestionType::Noul;
    task.readings = name == "a"   ? answered_readings()
                    : name == "b" ? std::vector{question_channel()}
                                  : said_readings();
    const std::size_t index = draft.add_task(std::move(task), options.open_labels);
    for (std::size_t i = 0; i < items->json.items().size(); ++i) {
      const codec::Json& json = items->json.items()[i];
      const std::string what = "item " + json.get_string("id").value_or(std::to_string(i + 1));
      if (!json.is_object()) {
        draft.refuse(items->at(i), what + " is no object");
        continue;
      }
      read_item(index, Fields(draft, items->at(i), json, printable(what, 80)), items->at(i));
    }
  }

  void read_item(std::size_t task, const Fields& fields, Origin at) {
    const bool said = draft.kit.tasks[task].name == "c";
    const bool sections = draft.kit.tasks[task].name == "b";
    auto id = fields.needed_text("id");
    auto question = fields.needed_text(said ? "text" : "question");
    if (!id || !question) return;
    Item item;
    item.id = std::move(*id);
    item.label = fields.scalar("label");
    item.kind = fields.text("kind").value_or("");
    item.question.type = draft.kit.tasks[task].type;
    const std::string_view words = said       ? kSaidInstructions
                                   : sections ? kSectionInstructions
                                              : kAnsweredInstructions;
    item.question.instructions = std::string(words) + *question;
    item.question.question = std::move(*question);
    const auto state = said ? seat_table(item, fields, at) : find_article(item, fields, sections);
    if (!state) return;
    item.state = *state;
    std::vector<std::string_view> known{"id", "label", "kind", said ? "text" : "question"};
    if (said || sections) known.push_back("options");
    if (!said) known.push_back("slug");
    set_meta(item, fields.take_rest(known));
    draft.add_item(task, std::move(item), at);
  }

  std::optional<std::size_t> find_article(Item& item, const Fields& fields, bool sections) {
    const auto slug = fields.needed_text("slug");
    if (!slug) return std::nullopt;
    const auto state = draft.find_state(*slug);
    if (!state) {
      fields.refuse("there is no article " + in_quotes(*slug));
      return std::nullopt;
    }
    if (!sections) {
      item.question.options = answered_options();
      return state;
    }
    const auto from_section = [&](const std::string& key) -> std::optional<decision::Option> {
      const auto& all = draft.kit.states[*state].sections;
      // Of sections with one id the last counts, as in the reference's dictionary.
      const auto found = std::ranges::find(all.rbegin(), all.rend(), key, &Section::id);
      if (found != all.rend()) {
        if (!draft.afford(found->body.size(), fields.at())) return std::nullopt;
        return decision::Option{key, found->heading, section_text(*found)};
      }
      fields.warn("option " + in_quotes(key) +
                  " is no section of the article; it is its own heading");
      return decision::Option{key, key, {}};
    };
    return read_listed(item, fields, from_section) ? state : std::nullopt;
  }

  std::optional<std::size_t> seat_table(Item& item, const Fields& fields, Origin at) {
    const auto from_roster = [&](const std::string& key) -> std::optional<decision::Option> {
      if (const std::string* name = find_guest(key)) return decision::Option{key, *name, {}};
      fields.refuse("option " + in_quotes(key) + " is not in the manifest's c_roster");
      return std::nullopt;
    };
    if (!read_listed(item, fields, from_roster)) return std::nullopt;
    std::string text(kTable);
    for (std::size_t i = 0; i < item.question.options.size(); ++i) {
      if (i > 0) text += ", ";
      text += item.question.options[i].description;
    }
    return draft.inline_state(text + ".", "table-" + item.id, at);
  }

  template <class Bare>
  bool read_listed(Item& item, const Fields& fields, Bare bare) {
    const codec::Json* list = fields.find("options");
    if (list == nullptr) {
      fields.refuse("no options");
      return false;
    }
    auto read = read_options(fields, *list, bare);
    if (read) item.question.options = std::move(*read);
    return read.has_value();
  }
};

}  // namespace

std::vector<decision::Option> answered_options() {
  return {{"yes", "The article answers the question.", {}},
          {"no", "The article does not answer the question.", {}}};
}

void load_reference(Draft& draft, const std::string& folder, const LoadOptions& options) {
  Reader reader{draft, KitFolder(draft, folder), options, {}};
  draft.kit.name = base_name(folder, false);
  draft.kit.layout = decision::reference_layout();
  FileDigests digests;
  std::size_t manifest_file = 0;
  if (reader.folder.has("manifest.json")) {
    reader.read_manifest(digests, manifest_file);
  } else {
    draft.warn({SIZE_MAX, 0}, "no manifest.json: nothing says the files are unchanged");
  }
  reader.read_articles();
  for (const char* name : {"a", "b", "c"}) reader.read_task(name);
  if (options.verify_digests) reader.folder.verify(manifest_file, digests, false);
  draft.kit.digest = kit_digest(reader.folder.read_files());
}

}  // namespace deem::kit
