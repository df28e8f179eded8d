// SendWatcher: an observer of what becomes of a host's sends.
#ifndef IBEMU_MAD_SEND_WATCHER_H_
#define IBEMU_MAD_SEND_WATCHER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "mad/address.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"

namespace ibemu::mad {

// An RmppProgress is how far a message with RMPP has come.
struct RmppProgress {
  uint32_t segments = 0, acknowledged = 0;
  // Why it was broken off: the status of an ABORT or STOP, the peer's or ours.
  // Nothing: no ACK came.
  std::optional<RmppStatus> broken_off{};
  bool by_peer = false;

  bool all_acknowledged() const { return acknowledged == segments; }
};

// An UnansweredSend is a request whose last timeout is over, or whose agent has
// ended before that: a program that waits for as long as it told the agent to
// may give up first.  With RMPP it may be an answer, which waits for ACKs, and
// may be broken off before its time is over, of which Linux tells no program.
struct UnansweredSend {
  int port = 0;
  const Outgoing& packet;    // as it was sent
  int tries = 1;             // how often, with RMPP since the last new ACK
  absl::Time begin{};        // when it was sent first, or that ACK came
  bool agent_ended = false;  // the answer may be on its way
  uint64_t process = 0;      // see Registration
  std::optional<RmppProgress> rmpp{};
};

// An AnsweredSend is a request to which an answer has come.
struct AnsweredSend {
  int port = 0;
  const Outgoing& packet;  // as it was sent; with RMPP its last segment
  int tries = 1;           // how often it was sent; with RMPP 1
  absl::Time begin{};      // when it was sent first
  MadStatus status{};      // the answer's
  uint64_t process = 0;    // see Registration
};

// A SendWatcher hears of sends before the client does.  It must not send or
// destroy agents.  Host::SetSendWatcher() attaches one.
class SendWatcher {
 public:
  virtual void OnTimeout(const UnansweredSend& send) = 0;
  virtual void OnAnswer(const AnsweredSend& send) = 0;

 protected:
  ~SendWatcher() = default;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SEND_WATCHER_H_
