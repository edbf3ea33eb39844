#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "cli/verbs.h"

namespace deem::cli {
namespace {

/// The flag of `app` nearest to `typed`, or "".
std::string nearest_flag(CLI::App& app, const std::string& typed) {
  std::string best;
  std::size_t least = 4;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::size_t d = edit_distance("--" + name, typed);
      if (d < least) {
        least = d;
        best = "--" + name;
      }
    }
  }
  return best;
}

}  // namespace

std::optional<int> parse(CLI::App& app, const Args& args) {
  std::vector<std::string> reversed(args.rbegin(), args.rend());  // what CLI11 wants
  try {
    app.parse(std::move(reversed));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kDone;
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    for (const std::string& arg : args) {
      const std::string flag = arg.substr(0, arg.find('='));
      if (!flag.starts_with("--") || app.get_option_no_throw(flag) != nullptr) continue;
      message = "no flag " + printable(flag, 40);
      if (const std::string near = nearest_flag(app, flag); !near.empty()) {
        message += "; did you mean " + near + "?";
      }
      break;
    }
    std::replace(message.begin(), message.end(), '\n', ' ');
    std::fprintf(stderr, "%s: %s (%s --help)\n", app.get_name().c_str(), message.c_str(),
                 app.get_name().c_str());
    return kUsage;
  }
}

}  // namespace deem::cli
