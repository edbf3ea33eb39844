#pragma once

#include <string>
#include <vector>

namespace deem::report {

/// A table as text. `text` cells are aligned to the left, numbers to the right.
struct Table {
  struct Head {
    std::string name = {};
    bool number = false;
  };
  std::string caption = {};
  std::string says = {};  // one sentence on how to read it
  std::vector<Head> head = {};
  std::vector<std::vector<std::string>> rows = {};  // each as long as head; shorter ones are filled
  std::vector<std::string> notes = {};              // sentences that follow from it
};

/// A part of a report that its callers add: position bias, coherence, a noise floor. The page, the
/// Markdown and the JSON carry it; texts may be hostile, each output escapes them.
struct Section {
  std::string id = {};  // a-z, 0-9 and dashes; the page's anchor
  std::string title = {};
  std::string explanation = {};  // one or two sentences on how to read it
  std::vector<Table> tables = {};
};

}  // namespace deem::report
