#include "loop/signals.h"

namespace ibemu {

sigset_t BlockSignals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    // A blocked signal reaches a signalfd even if nohup(1) ignores it.
    struct sigaction inherited;
    sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

void BlockSignalsForAdapters(std::initializer_list<int> signals) {
  BlockSignals(signals);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace ibemu
