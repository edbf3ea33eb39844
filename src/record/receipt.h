#pragma once

#include <string>
#include <vector>

#include "record/run.h"

namespace deem::record {

/// One thing two runs say differently of themselves.
struct ReceiptDifference {
  std::string what = {};       // "kit digest", "arm q8: weights", "board GPU-…: cap_w"
  std::string a = {}, b = {};  // as they stand there; "not told" where a run says nothing
  bool must = false;           // figures may not stand side by side while it differs
};

/// What differs between two runs' records. Kit and harness digests, the settings that decide what
/// is asked, and the weights, template and settings of arms of one name must be the same for their
/// figures to stand side by side; boxes, boards, drivers, caps and builds may differ and are
/// named. Pure.
std::vector<ReceiptDifference> compare_receipts(const RunRecord& a, const RunRecord& b);

}  // namespace deem::record
