// Signals that are not to end the process where it stands.
#ifndef IBEMU_LOOP_SIGNALS_H_
#define IBEMU_LOOP_SIGNALS_H_

#include <csignal>
#include <initializer_list>

namespace ibemu {

// The signals with which people and service managers end a program.
inline constexpr std::initializer_list<int> kEndingSignals = {SIGTERM, SIGINT,
                                                              SIGHUP};

// Keeps the signals until Server::WatchSignals() takes them or the program
// ends, those that are ignored excepted; returns which they are.  Threads
// inherit it.
sigset_t BlockSignals(std::initializer_list<int> signals);

// BlockSignals() for a process that is about to drive adapters, and to write to
// whoever may go away meanwhile: if it just ended, firmware would run on in
// memory that is somebody else's by then.
void BlockSignalsForAdapters(std::initializer_list<int> signals);

}  // namespace ibemu

#endif  // IBEMU_LOOP_SIGNALS_H_
