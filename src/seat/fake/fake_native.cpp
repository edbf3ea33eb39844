#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "decision/question.h"
#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

/// As answers of SGLang and llama-server were seen to differ with prefixes kept and without.
constexpr double kColdDrift = 0.07;

/// A question as it was sent, in whichever form.
struct Asked {
  std::string id, type, instructions;  // type: noul, choice, score
  std::vector<std::string> names;      // of the options in a reply
  std::vector<std::string> texts;      // what they mean
};

/// An endpoint that answers decisions itself: /v1/systemone, /v1/decisions of OpenAI or of SGLang.
class FakeNative : public FakeDialect {
 public:
  FakeNative(ServerKind kind, const FakeOptions& options, const FakeModel& model)
      : FakeDialect(options, model), systemone_(kind == ServerKind::SystemOne) {}

  /// A router sends the same form elsewhere.
  bool generates(std::string_view path) const override {
    return path == route() || (systemone_ && path == "/api/alpha/decisions");
  }

  bool is_decision(std::string_view path, const Json& body) const override {
    return generates(path) && !is_probe(body);
  }

  /// TypeSafe's layout, or OpenAI's.
  Json error_body(int status, std::string_view type, const std::string& message) const override {
    if (!systemone_) {
      return Json::object({{"error", Json::object({{"message", message}, {"type", type}})}});
    }
    if (status == 422) {
      return Json::object(
          {{"detail", Json::array({Json::object({{"loc", Json::array({"body", "questions"})},
                                                 {"msg", message},
                                                 {"type", "value_error"}})})}});
    }
    return Json::object({{"detail", Json::object({{"error_type", type}, {"message", message}})}});
  }

  net::ServerReply answer(const FakeRequest& request) const override {
    if (request.path == "/v1/models") return models();
    if (!generates(request.path)) return error(404, "not_found", "Not Found");
    const auto asked = read_questions(request.body);
    const Json* state = request.body.find(systemone_ ? "state" : "input");
    if (!request.body.get_string("model") || state == nullptr || !state->is_string() ||
        asked.empty()) {
      return error(422, "value_error", "Field required");
    }
    if (!is_served(request)) return error(404, "model_not_found", "no such model");
    const bool over = static_cast<std::int64_t>(state->as_string().size()) > options_.context;
    if (over && !has(AnswerFault::CutsState)) {
      return error(413, "tokens_exceeded",
                   "the state does not fit the context of " + std::to_string(options_.context));
    }
    const std::string read =
        over ? state->as_string().substr(0, static_cast<std::size_t>(options_.context))
             : state->as_string();
    std::vector<Json> answers;
    for (const Asked& one : asked) answers.push_back(make_answer(read, one, asked, request));
    // A token for each byte of the state, and 40 for each question.
    const auto tokens = static_cast<std::int64_t>(read.size() + 40 * asked.size());
    Json usage = systemone_ || !options_.sglang_form
                     ? Json::object({{"input_tokens", tokens}, {"output_tokens", 0}})
                     : Json::object({{"prompt_tokens", tokens}});
    const std::string named =
        options_.served.empty() ? served_name(request.faults) : options_.served;
    return ok(Json::object({{"model", named},
                            {"answers", gather(asked, std::move(answers))},
                            {"usage", std::move(usage)}}));
  }

 private:
  std::string route() const { return systemone_ ? "/v1/systemone" : "/v1/decisions"; }
  bool has(AnswerFault fault) const {
    return (!options_.answers_on || *options_.answers_on) &&
           std::ranges::find(options_.answers, fault) != options_.answers.end();
  }
  bool is_list() const { return !systemone_ && !options_.sglang_form; }

  net::ServerReply models() const {
    if (systemone_) {
      return ok(
          Json::object({{"models", Json::array({Json::object({{"name", options_.model},
                                                              {"description", "scripted"}})})}}));
    }
    return ok(Json::object({{"data", Json::array({Json::object({{"id", options_.model}})})}}));
  }

  // ---- questions

  static std::string text_of(const Json* value) {
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
  }

  static void add_numbered(const Json* list, std::string_view text, Asked& out) {
    if (list == nullptr || !list->is_array()) return;
    for (const Json& level : list->items()) {
      out.names.push_back(std::to_string(out.names.size()));
      out.texts.push_back(text.empty() ? text_of(&level) : level.get_string(text).value_or(""));
    }
  }

  static void add_named(const Json* list, std::string_view name, Asked& out) {
    if (list == nullptr || !list->is_array()) return;
    for (const Json& option : list->items()) {
      out.names.push_back(option.get_string(name).value_or(""));
      out.texts.push_back(option.get_string("description").value_or(""));
    }
  }

  static void add_both(const Json* yes, const Json* no, Asked& out) {
    out.names = {"yes", "no"};
    out.texts = {text_of(yes), text_of(no)};
  }

  static Asked read_systemone(const std::string& id, const Json& question) {
    Asked out{.id = id,
              .type = question.get_string("type").value_or(""),
              .instructions = question.get_string("instructions").value_or(""),
              .names = {},
              .texts = {}};
    const Json* criteria = question.find("criteria");
    if (out.type == "noul") {
      add_both(criteria == nullptr ? nullptr : criteria->find("true"),
               criteria == nullptr ? nullptr : criteria->find("false"), out);
    } else if (out.type == "score") {
      add_numbered(criteria, "", out);
    } else if (criteria != nullptr && criteria->is_object()) {
      for (const auto& [key, description] : criteria->members()) {
        out.names.push_back(key);
        out.texts.push_back(text_of(&description));
      }
    }
    return out;
  }

  Asked read_listed(const Json& question) const {
    const bool sglang = options_.sglang_form;
    Asked out{
        .id = question.get_string(sglang ? "id" : "name").value_or(""),
        .type = question.get_string("type").value_or(""),
        .instructions = question.get_string(sglang ? "question" : "instructions").value_or(""),
        .names = {},
        .texts = {}};
    if (out.type == (sglang ? "yes_no" : "predicate")) {
      out.type = "noul";
      add_both(question.find("yes"), question.find("no"), out);
    } else if (out.type == "score") {
      sglang ? add_numbered(question.find("levels"), "", out)
             : add_named(question.find("levels"), "label", out);
    } else {
      sglang ? add_named(question.find("options"), "name", out)
             : add_named(question.find("choices"), "value", out);
    }
    return out;
  }

  /// None where the body is not of this form, or a question asks nothing.
  std::vector<Asked> read_questions(const Json& body) const {
    std::vector<Asked> out;
    const Json* questions = body.find("questions");
    if (questions == nullptr) return out;
    if (systemone_ && questions->is_object()) {
      for (const auto& [id, question] : questions->members()) {
        out.push_back(read_systemone(id, question));
      }
    } else if (!systemone_ && questions->is_array()) {
      for (const Json& question : questions->items()) out.push_back(read_listed(question));
    }
    const bool all = std::ranges::all_of(out, [this](const Asked& one) {
      return !one.id.empty() && !one.instructions.empty() &&
             (!one.names.empty() || has(AnswerFault::TakesAnything));
    });
    return all ? out : std::vector<Asked>();
  }

  // ---- answers

  /// Log-probabilities of the question's options: the scripted ones, or the model's own of letters.
  std::vector<double> scores(const std::string& state, const Asked& asked, FakeMind mind) const {
    std::string turn = "State:\n" + state + "\n\nQuestion: " + asked.instructions + "\nOptions:";
    const std::size_t all = asked.names.size(), n = std::min(all, decision::kLetters);
    for (std::size_t i = 0; i < n; ++i) {
      turn +=
          std::string("\n[") + decision::letter(i) + "] " + asked.names[i] + ": " + asked.texts[i];
    }
    if (const auto known = model_.letters_of_item(turn, all, mind)) return *known;
    if (options_.scores.letters) return options_.scores.letters(turn, all);
    const auto next =
        model_.next(model_.render({{"user", turn}}, FakeModel::Ending::Prompt, false));
    std::vector<double> out(all, -20.0);
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = next[static_cast<unsigned char>(decision::letter(i))];
    }
    return out;
  }

  std::vector<double> probabilities(const std::string& state, const Asked& asked,
                                    FakeMind mind) const {
    std::vector<double> out = scores(state, asked, mind);
    double sum = 0;
    for (double& score : out) sum += score = std::exp(score);
    for (double& p : out) p /= sum;
    return out;
  }

  /// Options by name, spoiled as the server's faults say.
  std::vector<std::pair<std::string, Json>> spoil(const Asked& asked,
                                                  const std::vector<double>& p) const {
    std::vector<std::pair<std::string, Json>> out;
    for (std::size_t i = 0; i < p.size(); ++i) {
      double value = p[i];
      if (has(AnswerFault::SumLow)) value *= 0.9;
      if (has(AnswerFault::AllZero)) value = 0;
      if (has(AnswerFault::Percent)) value *= 100;
      if (has(AnswerFault::Rounded)) value = std::round(value * 100) / 100;
      out.emplace_back(asked.names[i], value);
    }
    if (out.empty()) return out;
    if (has(AnswerFault::NullOption)) out[0].second = Json();
    if (has(AnswerFault::NanOption)) out[0].second = std::numeric_limits<double>::quiet_NaN();
    if (has(AnswerFault::TextOption)) out[0].second = "0.5";
    if (has(AnswerFault::Negative)) out[0].second = -0.25;
    if (has(AnswerFault::Duplicate)) out.push_back(out[0]);
    if (has(AnswerFault::MissingOption)) out.erase(out.begin());
    if (has(AnswerFault::ExtraOption)) out.emplace_back("none of these", 0.0);
    if (has(AnswerFault::Reordered)) std::ranges::reverse(out);
    return out;
  }

  Json print(const std::vector<std::pair<std::string, Json>>& options, bool levels) const {
    if (!is_list()) {
      Json out = Json::object();
      for (const auto& [name, p] : options) out.members().emplace_back(name, p);
      return out;
    }
    Json out = Json::array();
    for (const auto& [name, p] : options) {
      out.push(Json::object({{levels ? "label" : "value", name}, {"probability", p}}));
    }
    return out;
  }

  /// How much of the likeliest option's probability goes to another.
  double shifted(const std::string& state, const Asked& asked, const std::vector<Asked>& all,
                 const FakeRequest& request) const {
    if (has(AnswerFault::Skewed) && (state.size() + asked.instructions.size()) % 3 == 0) return 1;
    if (has(AnswerFault::ReadsIds) && asked.id != "q1") return 0.3;
    if (has(AnswerFault::ReadsCompany) && all.size() > 1) return 0.3;
    if (has(AnswerFault::Jitters)) return 0.2 * static_cast<double>(request.traffic.asked % 3);
    return 0;
  }

  /// By how much of the prompt was read before: all of it, its beginning, nothing.
  double drift(const std::string& state, const Asked& asked) const {
    const std::scoped_lock lock(mutex_);
    const auto [kept, is_new] = kept_.try_emplace(state, asked.instructions);
    if (is_new) return kColdDrift / 2;
    return std::exchange(kept->second, asked.instructions) == asked.instructions ? 0 : kColdDrift;
  }

  Json make_answer(const std::string& state, const Asked& asked, const std::vector<Asked>& all,
                   const FakeRequest& request) const {
    if (has(AnswerFault::NullAnswer)) return {};
    const bool noul = asked.type == "noul";
    const bool sglang = !systemone_ && options_.sglang_form;
    std::string type = systemone_ || !noul ? asked.type : sglang ? "yes_no" : "predicate";
    if (has(AnswerFault::WrongType)) type = noul ? "choice" : "noul";
    if (has(AnswerFault::Declined)) type = "refusal";
    Json out = Json::object({{"type", type}});
    if (is_list()) out.set("name", answer_id(asked.id));
    if (has(AnswerFault::Declined)) return out;
    std::vector<double> p = probabilities(state, asked, mind_of(request.faults));
    if (!p.empty()) {
      const auto best = std::ranges::max_element(p);
      const double cold = has(AnswerFault::ColdDrift) ? drift(state, asked) : 0;
      const double shift = std::max(shifted(state, asked, all, request) * *best, cold);
      *best -= shift;
      (best == p.begin() ? p.back() : p.front()) += shift;
    }
    const auto options = spoil(asked, p);
    if (noul && !sglang) {
      const bool gone = has(AnswerFault::MissingOption);
      if (!gone) out.set(systemone_ ? "noul" : "probability", options[0].second);
    } else {
      out.set("probabilities", print(options, asked.type == "score"));
    }
    if (asked.type == "choice") out.set("choice", name_choice(asked, p));
    if (asked.type == "score") {
      double level = 0;
      for (std::size_t i = 0; i < p.size(); ++i) level += static_cast<double>(i) * p[i];
      out.set("score", level + (has(AnswerFault::ScoreDiffers) ? 0.5 : 0));
    }
    if (!noul && !has(AnswerFault::NoConfidence)) out.set("confidence", 0.5);
    const double mass = has(AnswerFault::LowMass) ? 1e-6 : 0.9;
    if (sglang) out.set("label_mass", mass);
    if (systemone_) out.set("x_label_mass", mass);
    if (has(AnswerFault::ExtraMembers)) out.set("note", Json::object({{"a", Json::array()}}));
    return out;
  }

  std::string name_choice(const Asked& asked, const std::vector<double>& p) const {
    if (has(AnswerFault::ChoiceUnknown) || p.empty()) return "none of these";
    const auto best =
        has(AnswerFault::ChoiceDiffers) ? std::ranges::min_element(p) : std::ranges::max_element(p);
    return asked.names[static_cast<std::size_t>(best - p.begin())];
  }

  std::string answer_id(const std::string& id) const {
    return has(AnswerFault::RenamedId) ? "question_" + id : id;
  }

  Json gather(const std::vector<Asked>& asked, std::vector<Json> answers) const {
    std::vector<std::pair<std::string, Json>> named;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      named.emplace_back(answer_id(asked[i].id), std::move(answers[i]));
    }
    if (has(AnswerFault::NoAnswers)) named.clear();
    if (has(AnswerFault::ExtraAnswer)) {
      named.emplace_back("another", Json::object({{"type", "noul"}, {"noul", 0.5}, {"name", "x"}}));
    }
    if (has(AnswerFault::Reordered)) std::ranges::reverse(named);
    Json out = is_list() ? Json::array() : Json::object();
    for (auto& [id, answer] : named) {
      if (is_list()) {
        out.push(std::move(answer));
      } else {
        out.members().emplace_back(id, std::move(answer));
      }
    }
    return out;
  }

  const bool systemone_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> kept_;  // by state, the question asked last
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_native(ServerKind kind, const FakeOptions& options,
                                              const FakeModel& model) {
  return std::make_unique<FakeNative>(kind, options, model);
}

}  // namespace deem::seat
