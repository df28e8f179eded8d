// A MAD agent: one registered user of a port's QP0 or QP1.
#ifndef IBEMU_MAD_AGENT_H_
#define IBEMU_MAD_AGENT_H_

#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "mad/address.h"

namespace ibemu::mad {

class Agent;

// The arguments of a registration: those of ib_register_mad_agent().
struct Registration {
  int qp = 1;              // 0 or 1
  uint8_t mgmt_class = 0;  // 0: only sends, and receives answers
  uint8_t mgmt_class_version = 0;
  uint32_t oui = 0;  // vendor classes 0x30 to 0x4f
  std::bitset<128> methods{};
  uint8_t rmpp_version = 0;  // 1: the core does RMPP, unless user_rmpp
  bool user_rmpp = false;
  uint64_t process = 0;       // whose it is; 0: of none in particular
  bool tid_as_given = false;  // what it sends keeps its TID: see Agent::Send()
};

// A message to send: one MAD or, with RMPP, any number of segments.
struct OutgoingMessage {
  AddressVector to{};
  std::vector<std::byte> mad{};  // headers and data; RMPP: one header, all data
  absl::Duration timeout = absl::ZeroDuration();  // zero: expects no answer
  int retries = 0;
  uint64_t cookie = 0;  // the client's name for it, see AgentClient
};

// A received message.  `mad` has 256 bytes, or is a reassembled RMPP message:
// one header followed by all data.  The length that its sender gave such a
// message may cut off the class's part of the header, as in Linux.
struct IncomingMessage {
  int qp = 0;
  wire::Lid slid = wire::Lid::kUnassigned;
  uint8_t sl = 0;
  uint8_t path_bits = 0;
  uint16_t pkey_index = 0;
  uint32_t source_qpn = 0;
  std::optional<GlobalRoute> grh{};
  std::vector<std::byte> mad{};
};

// The callbacks of an agent's owner.  A client may send in any of these calls,
// and may destroy the agent in any but OnSendDone().
class AgentClient {
 public:
  virtual ~AgentClient() = default;
  virtual void OnMad(Agent& agent, IncomingMessage message) = 0;

  // The send with `cookie` is over: it was answered, needed no answer or, as in
  // Linux, the peer aborted its RMPP message.  If there is an answer, OnMad()
  // delivers it next.
  virtual void OnSendDone(Agent& agent, uint64_t cookie) = 0;

  // No answer came after the last retry, and the send is over.
  virtual void OnSendTimeout(Agent& agent, uint64_t cookie) = 0;
};

// An Agent is one registered user of MADs.  Host::Register() makes it, and the
// Host must outlive it.  Its destruction ends its outstanding sends without
// calling its client.
class Agent {
 public:
  virtual ~Agent() = default;

  // Returns the high half of the TID of every request of this agent; it is
  // unique within the host.
  virtual uint32_t hi_tid() const = 0;
  virtual const Registration& registration() const = 0;

  // Sends a message.  The high half of its TID becomes hi_tid() unless it is an
  // answer or the registration says tid_as_given, as a user in the kernel has
  // it.  Where the core does RMPP, it writes the RMPP header.  AgentClient is
  // never called before Send() returns.
  //
  // Errors:
  //   InvalidArgument  Linux refuses the length, class or address; a directed
  //                    route does not start here; or the message is a
  //                    duplicate: a request of the same TID and class is
  //                    outstanding, or such an answer to the same destination
  //   Unavailable      the device is gone
  virtual absl::Status Send(OutgoingMessage message) = 0;

  // Ends the outstanding requests whose TID has this low half, without calling
  // the client, as ib_cancel_mad() does: an answer that still comes is dropped.
  // Not for an agent that says tid_as_given.
  virtual void Cancel(uint32_t low_tid) = 0;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_AGENT_H_
