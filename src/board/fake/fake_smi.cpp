// A stand-in for nvidia-smi. Each call reads the file that the environment's DEEM_FAKE_SMI names
// and appends its arguments, a line, to the file of that name with ".calls" behind it. The file
// holds:
//
//   help                        it can list its fields (--help-query-gpu)
//   alias FIELD OTHER           the list of fields has a second name for one
//   board                       the lines below are fields of this board: FIELD VALUE
//   uuid GPU-1                  power.draw [N/A]
//   after LINE                  printed after the boards
//   app UUID PID MIB NAME       a process (the name may hold spaces), MIB "-": [N/A]
//   app_line LINE               printed after the processes
//   list LINE                   a line of -L
//   text LINE, error LINE       printed to stdout, to stderr, instead of anything else
//   exit CODE, apps_exit CODE   how a query of boards, of processes, ends
//   kill SIGNAL                 how a query of boards ends
//   silent                      it ends without a word
//   hang                        never ends; `hang_later`: only a query of boards does not
//
// As the real one it refuses a query that has one unknown field, and leaves out no field that was
// asked for.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Words = std::map<std::string, std::string>;

struct Script {
  std::set<std::string> flags;                            // help, silent, hang, hang_later
  std::map<std::string, std::vector<std::string>> lines;  // of words that print
  std::map<std::string, int> numbers;                     // exit, apps_exit, kill
  Words aliases;
  std::vector<Words> boards;
  std::set<std::string> fields = {"timestamp"};
  std::vector<Words> apps;
};

Words read_app(const std::string& text) {
  std::istringstream in(text);
  std::string uuid, pid, mib, name;
  in >> uuid >> pid >> mib;
  std::getline(in >> std::ws, name);
  return {{"gpu_uuid", uuid},
          {"pid", pid},
          {"used_gpu_memory", mib == "-" ? "[N/A]" : mib},
          {"process_name", name}};
}

void read_line(Script& out, const std::string& word, const std::string& rest) {
  static const std::set<std::string> kFlags = {"help", "silent", "hang", "hang_later"};
  static const std::set<std::string> kLines = {"after", "app_line", "list", "text", "error"};
  static const std::set<std::string> kNumbers = {"exit", "apps_exit", "kill"};
  if (kFlags.contains(word)) {
    out.flags.insert(word);
  } else if (kLines.contains(word)) {
    out.lines[word].push_back(rest);
  } else if (kNumbers.contains(word)) {
    out.numbers[word] = std::atoi(rest.c_str());
  } else if (word == "alias") {
    out.aliases[rest.substr(0, rest.find(' '))] = rest.substr(rest.find(' ') + 1);
  } else if (word == "board") {
    out.boards.emplace_back();
  } else if (word == "app") {
    out.apps.push_back(read_app(rest));
  } else if (out.boards.empty()) {
    std::fprintf(stderr, "fake nvidia-smi: no such line: %s\n", word.c_str());
    std::abort();
  } else {
    out.boards.back()[word] = rest;
    out.fields.insert(word);
  }
}

Script load(const std::string& path) {
  Script out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    if (word.empty() || word[0] == '#') continue;
    read_line(out, word, space == std::string::npos ? "" : line.substr(space + 1));
  }
  return out;
}

void print(const std::vector<std::string>& lines, FILE* to = stdout) {
  for (const std::string& line : lines) std::fprintf(to, "%s\n", line.c_str());
}

/// As the real one's: a heading, then a paragraph for each field that begins with its names.
int print_help(const Script& script) {
  std::puts("List of valid properties to query for the switch \"--query-gpu=\":\n");
  for (const std::string& field : script.fields) {
    const auto other = script.aliases.find(field);
    if (other != script.aliases.end()) {
      std::printf("\"%s\" or \"%s\"\n", field.c_str(), other->second.c_str());
    } else {
      std::printf("\"%s\"\n", field.c_str());
    }
    std::puts("What it is. Not available where \"nvidia-smi\" says \"N/A\".\n");
  }
  return 0;
}

/// Rows of the fields in `list`. Gives an exit code.
int print_rows(const std::vector<Words>& rows, const std::set<std::string>& known,
               const std::string& list) {
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (!known.contains(name)) {
      std::printf("Field \"%s\" is not a valid field to query.\n\n", name.c_str());
      return 2;
    }
    names.push_back(name);
  }
  for (const Words& row : rows) {
    std::string line;
    for (const std::string& name : names) {
      const auto at = row.find(name);
      const std::string value = name == "timestamp" ? "2026/12/01 05:12:49.306"
                                : at != row.end()   ? at->second
                                                    : "[N/A]";
      line += (line.empty() ? "" : ", ") + value;
    }
    std::puts(line.c_str());
  }
  return 0;
}

int number(const Script& script, const std::string& word) {
  const auto at = script.numbers.find(word);
  return at == script.numbers.end() ? 0 : at->second;
}

int query_boards(const Script& script, const std::string& list) {
  if (script.flags.contains("hang_later")) ::pause();
  std::set<std::string> known = script.fields;
  for (const auto& [field, other] : script.aliases) known.insert(other);
  const int code = print_rows(script.boards, known, list);
  if (code != 0) return code;
  const auto after = script.lines.find("after");
  if (after != script.lines.end()) print(after->second);
  std::fflush(stdout);
  if (const int signal = number(script, "kill"); signal != 0) ::raise(signal);
  return number(script, "exit");
}

int query_apps(const Script& script, const std::string& list) {
  const int code =
      print_rows(script.apps, {"gpu_uuid", "pid", "used_gpu_memory", "process_name"}, list);
  const auto more = script.lines.find("app_line");
  if (more != script.lines.end()) print(more->second);
  return code != 0 ? code : number(script, "apps_exit");
}

/// What the script says whatever is asked. Gives an exit code, −1 where it says nothing.
int say_instead(const Script& script) {
  if (script.flags.contains("hang")) ::pause();
  if (script.flags.contains("silent")) return number(script, "exit");
  const auto text = script.lines.find("text"), error = script.lines.find("error");
  if (text == script.lines.end() && error == script.lines.end()) return -1;
  if (text != script.lines.end()) print(text->second);
  if (error != script.lines.end()) print(error->second, stderr);
  return number(script, "exit");
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = std::getenv("DEEM_FAKE_SMI");
  if (path == nullptr) return 2;
  const Script script = load(path);
  std::ofstream calls(std::string(path) + ".calls", std::ios::app);
  for (int i = 1; i < argc; ++i) calls << (i > 1 ? " " : "") << argv[i];
  calls << '\n' << std::flush;
  if (const int code = say_instead(script); code >= 0) return code;
  const std::string first = argc > 1 ? argv[1] : "", second = argc > 2 ? argv[2] : "";
  const std::string query = "--query-gpu=", apps = "--query-compute-apps=";
  if (first == "--help-query-gpu" && script.flags.contains("help")) return print_help(script);
  if (first == "-L") {
    const auto list = script.lines.find("list");
    if (list != script.lines.end()) print(list->second);
    return 0;
  }
  if (second == "--format=csv,noheader,nounits") {
    if (first.starts_with(query)) return query_boards(script, first.substr(query.size()));
    if (first.starts_with(apps)) return query_apps(script, first.substr(apps.size()));
  }
  std::printf("Invalid combination of input arguments: %s\n", first.c_str());
  return 2;
}
