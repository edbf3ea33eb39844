#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "seat/doctor/doctor.h"

namespace deem::seat {

/// The probe of a diagnosis by its name; a failure where there is none.
inline const ProbeResult& probe_of(const Diagnosis& diagnosis, std::string_view name) {
  const auto found = std::ranges::find(diagnosis.probes, name, &ProbeResult::name);
  if (found == diagnosis.probes.end()) {
    ADD_FAILURE() << "no probe " << name;
    static const ProbeResult none;
    return none;
  }
  return *found;
}

}  // namespace deem::seat
