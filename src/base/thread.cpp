#include "base/thread.h"

#include <pthread.h>
#include <sched.h>

namespace deem {

void prefer_throughput() {
  int policy = 0;
  sched_param parameters{};
  // Only the ordinary policy is changed: a user who runs us under another one means it.
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0) return;
  if (policy == SCHED_OTHER) pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters);
}

}  // namespace deem
