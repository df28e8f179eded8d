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

// What an agent asks for: ib_register_mad_agent's arguments.
struct Registration {
  int qp = 1;              // 0 or 1
  uint8_t mgmt_class = 0;  // 0: sends and receives answers only
  uint8_t mgmt_class_version = 0;
  uint32_t oui = 0;  // vendor classes 0x30 to 0x4f
  std::bitset<128> methods{};
  uint8_t rmpp_version = 0;  // 1: RMPP by the core, unless user_rmpp
  bool user_rmpp = false;
};

// A message to send: one MAD, or with RMPP any number of segments.
struct OutgoingMessage {
  AddressVector to{};
  std::vector<std::byte> mad{};  // headers and data; RMPP: one header, all data
  absl::Duration timeout = absl::ZeroDuration();  // zero: expects no answer
  int retries = 0;
  uint64_t cookie = 0;  // the client's name for it, see AgentClient
};

// A received message.  `mad` is 256 bytes, or for reassembled RMPP one header
// followed by all data.
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

// May send in any of these calls.  May destroy the agent in any but
// OnSendDone().
class AgentClient {
 public:
  virtual ~AgentClient() = default;
  virtual void OnMad(Agent& agent, IncomingMessage message) = 0;

  // The send with `cookie` was answered or needed no answer: it is over.  The
  // OnMad() with the answer comes next.  Also when the send was cancelled and,
  // as in Linux, when the peer aborted an RMPP message: then nothing comes.
  virtual void OnSendDone(Agent& agent, uint64_t cookie) = 0;

  // No answer came after the last retry.
  virtual void OnSendTimeout(Agent& agent, uint64_t cookie) = 0;
};

// Made by Host::Register(), which must outlive it.  Destroying one cancels its
// outstanding sends without a call of its client.
class Agent {
 public:
  virtual ~Agent() = default;

  // The high half of the TID of every request of this agent; unique in a host.
  virtual uint32_t hi_tid() const = 0;
  virtual const Registration& registration() const = 0;

  // Sends a message.  The high half of its TID becomes hi_tid() unless it is an
  // answer, and its RMPP header is the core's where the core does RMPP.
  // AgentClient is never called before Send() returns.
  //
  // Errors:
  //   InvalidArgument  lengths, classes or addresses that Linux refuses, a
  //                    directed route that does not start here, or a duplicate:
  //                    a request of the same TID and class is under way, or an
  //                    answer to the same place
  //   Unavailable      the device is gone
  virtual absl::Status Send(OutgoingMessage message) = 0;

  // Ends an outstanding send; whatever comes for it later is dropped.  The
  // client hears of it once, from OnSendDone() and not before this returns.  A
  // peer that has part of an RMPP message gets no ABORT, as from Linux: it
  // gives up by itself.  Looks through all sends that are outstanding, and
  // ends one with this cookie.  ib_cancel_mad() in Linux.
  //
  // Errors:
  //   NotFound  none with this cookie is outstanding: it may be over already
  virtual absl::Status Cancel(uint64_t cookie) = 0;

  // Gives an outstanding send another timeout, also for the retries that it has
  // left, and starts its timer anew.  Zero cancels.  ib_modify_mad() in Linux.
  //
  // Errors: those of Cancel().
  virtual absl::Status SetTimeout(uint64_t cookie, absl::Duration timeout) = 0;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_AGENT_H_
