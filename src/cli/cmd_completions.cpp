#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "cli/verbs.h"

namespace deem::cli {
namespace {

/// First words of verbs ("kit"), each once; or the second words under `first`.
std::string words(std::string_view first) {
  std::string out;
  for (const Verb& verb : verbs()) {
    const auto parts = split(verb.name, ' ');
    std::string_view word;
    if (first.empty())
      word = parts[0];
    else if (parts.size() > 1 && parts[0] == first)
      word = parts[1];
    if (word.empty() || (" " + out + " ").find(" " + std::string(word) + " ") != std::string::npos)
      continue;
    out += (out.empty() ? "" : " ") + std::string(word);
  }
  return out;
}

// Flags come from the verb's own help, so that a completion can not grow stale.
std::string bash() {
  std::string second, nouns;
  for (const Verb& verb : verbs()) {
    const auto parts = split(verb.name, ' ');
    const std::string noun(parts[0]);
    if (parts.size() < 2 || ("|" + nouns + "|").find("|" + noun + "|") != std::string::npos)
      continue;
    nouns += (nouns.empty() ? "" : "|") + noun;
    second += "  elif [ \"$verb\" = " + noun +
              " ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n    words=\"" + words(noun) + "\"\n";
  }
  return fmt::format(R"(_deem() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]:-}} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{0} --help --version"
{1}  elif [ "$verb" = completions ]; then
    words="bash zsh fish"
  elif [[ "$cur" == -* ]]; then
    case "$verb" in {2}) verb="$verb ${{COMP_WORDS[2]}}" ;; esac
    words=$(deem $verb --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*')
  else
    local file
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o filenames -F _deem deem
)",
                     words(""), second, nouns);
}

std::string zsh() {
  return "#compdef deem\nautoload -U +X bashcompinit && bashcompinit\n" + bash();
}

/// As a word in single quotes for fish.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish() {
  std::string out = "complete -c deem -n __fish_use_subcommand -f\n";
  std::string_view noun;  // of the verb before
  for (const Verb& verb : verbs()) {
    const auto parts = split(verb.name, ' ');
    const std::string condition = parts.size() == 1
                                      ? "__fish_use_subcommand"
                                      : "__fish_seen_subcommand_from " + std::string(parts[0]);
    if (parts.size() > 1 && parts[0] != noun) {
      out += fmt::format("complete -c deem -n __fish_use_subcommand -a {0} -d '{0} …'\n", parts[0]);
    }
    noun = parts.size() > 1 ? parts[0] : std::string_view();
    out += fmt::format("complete -c deem -n '{}' -a {} -d {}\n", condition, parts.back(),
                       fish_quoted(verb.summary));
  }
  out +=
      "complete -c deem -n 'string match -q -- \"-*\" (commandline -ct)' -f -a "
      "'(eval (commandline -opc) --help 2>/dev/null | string match -ra -- \"--[a-z][a-z-]*\")'\n";
  return out;
}

}  // namespace

int run_completions(const Args& args) {
  CLI::App app(
      "Print the shell completions of deem.\n\n"
      "  deem completions bash > /etc/bash_completion.d/deem\n",
      "deem completions");
  std::string shell;
  app.add_option("SHELL", shell, "bash, zsh or fish")->required();
  if (const auto code = parse(app, args)) return *code;
  if (shell == "bash")
    std::fputs(bash().c_str(), stdout);
  else if (shell == "zsh")
    std::fputs(zsh().c_str(), stdout);
  else if (shell == "fish")
    std::fputs(fish().c_str(), stdout);
  else
    return report_error(
        {Error::Code::BadInput, "completions: bash, zsh or fish, not " + printable(shell, 20)});
  return kDone;
}

}  // namespace deem::cli
