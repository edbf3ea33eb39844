// The questions of the probe `sanity` to a decision endpoint, choices in every rotation of their
// options.
#include <mutex>

#include "decision/readout.h"
#include "seat/doctor/session.h"

namespace deem::seat {

ProbeResult probe_native_sanity(Session& session) {
  Probe probe("sanity");
  struct Asked {
    std::size_t item = 0, shift = 0;
    std::optional<std::size_t> option = {};
  };
  std::vector<Asked> all;
  for (std::size_t i = 0; i < std::size(kSanityItems); ++i) {
    const SanityItem& item = kSanityItems[i];
    for (std::size_t shift = 0; shift < (item.noul ? 1 : item.size); ++shift)
      all.push_back({.item = i, .shift = shift});
  }
  std::mutex mutex;  // guards the session's failures
  session.each_of(all.size(), [&](std::size_t i) {
    Asked& one = all[i];
    const SanityItem& item = kSanityItems[one.item];
    const DecideRequest::Question asked{.id = "q1", .question = rotated(item, one.shift)};
    const auto reply = session.seat.decide({.state = std::string(item.state), .questions = {asked}},
                                           session.crowd_schedule());
    const std::scoped_lock lock(mutex);
    if (reply) session.saw(reply->usage);
    if (!reply) {
      session.missed(reply.error());
      session.failed("native", reply.error());
    }
    const auto probs = native_probs_of(reply, asked);
    if (probs) one.option = (decision::argmax(*probs) + one.shift) % item.size;
  });
  session.out.requests += static_cast<int>(all.size());
  SanityAnswers answers{.name = "native", .said = {}};
  answers.said.resize(std::size(kSanityItems));
  std::vector<RotatedAnswer> chosen;
  for (const Asked& one : all) {
    if (one.shift == 0) answers.said[one.item] = one.option;
    if (one.option && !kSanityItems[one.item].noul)
      chosen.push_back({.item = one.item, .shift = one.shift, .option = *one.option});
  }
  tell_sanity(std::span(&answers, 1), session, probe);
  tell_places(places_of(chosen), probe);
  return probe.close();
}

}  // namespace deem::seat
