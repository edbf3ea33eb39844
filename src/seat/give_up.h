#pragma once

#include <stop_token>

#include "seat/seat.h"

namespace deem::seat {

/// Ends the seat's calls when a stop is asked for while this lives.
class GiveUp {
 public:
  GiveUp(const std::stop_token& stop, Seat& seat) : on_stop_(stop, Call{&seat}) {}

 private:
  struct Call {
    Seat* seat;
    void operator()() const { seat->give_up(); }
  };
  std::stop_callback<Call> on_stop_;
};

}  // namespace deem::seat
