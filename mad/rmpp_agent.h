// RmppAgent: RMPP on behalf of an agent, which Linux calls kernel RMPP.
#ifndef IBEMU_MAD_RMPP_AGENT_H_
#define IBEMU_MAD_RMPP_AGENT_H_

#include <cstdint>
#include <list>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "mad/agent.h"
#include "mad/mad_class.h"
#include "mad/rmpp_receiver.h"
#include "mad/transaction.h"

namespace ibemu::mad {

class AgentCore;

// An RmppAgent drives the RmppSenders and RmppReceivers of one agent: it gives
// them their packets and timers.  It behaves like
// drivers/infiniband/core/mad_rmpp.c in Linux.
class RmppAgent {
 public:
  // The most messages that one peer may be sending to the agent at a time.  The
  // first segment of another one is dropped, as if it had been lost.  Linux's
  // only limit is its memory, which a peer could fill with first segments.
  static constexpr uint32_t kMaxFromPeer = 4096;

  // The most complete requests that are remembered.  The newest ones are kept.
  static constexpr size_t kMaxRemembered = 4096;

  explicit RmppAgent(AgentCore& agent) : agent_(agent) {}
  ~RmppAgent() { Die(); }
  RmppAgent(const RmppAgent&) = delete;
  RmppAgent& operator=(const RmppAgent&) = delete;

  // Sends the first segments of a message to the address in `transaction`.
  //
  // Errors: those of Port::Transmit(), after which nothing was sent.
  absl::Status Start(Transaction& transaction, OutgoingMessage message);

  // Handles an active RMPP packet for the agent.  Returns the message if the
  // packet completes one.
  std::optional<IncomingMessage> OnPacket(const Arrival& arrival);

  // Handles the timer of a send.  Returns false if no ACK came after the last
  // try.
  bool OnTimeout(Transaction& transaction);

  // Tells who watches the host of a send that is not acknowledged, or not
  // answered.
  void TellTimeout(const Transaction& transaction, bool agent_ended) const;

  // Forgets the messages that are being received.
  void Die();

 private:
  // The identity of an incoming message, as in Linux's find_rmpp_recv().
  struct Key {
    uint64_t tid = 0;
    uint32_t source_qpn = 0;
    wire::Lid slid{};
    MgmtClass mgmt_class{};
    uint8_t class_version = 0;
    Method method{};

    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.tid, key.source_qpn, key.slid,
                        key.mgmt_class, key.class_version, key.method);
    }
  };

  // A message that is being received, or a complete one that is remembered.
  struct Receiving {
    explicit Receiving(const Key& own_key, const Arrival& first_segment)
        : key(own_key),
          receiver(HeaderBytes(own_key.mgmt_class)),
          first(first_segment) {}

    Key key;
    RmppReceiver receiver;
    Arrival first;               // the segment that began it
    uint32_t answer_window = 1;  // segments of our answer before its first ACK
    TimerId timer = TimerId::kNone;
  };

  static Key KeyOf(const Arrival& arrival);

  std::optional<IncomingMessage> OnData(const RmppHeader& data,
                                        const Arrival& arrival);
  void OnControl(const RmppHeader& control, const Arrival& arrival);
  void OnAck(const RmppHeader& ack, const Arrival& arrival);
  void EndSend(const Arrival& arrival, RmppStatus status, bool by_peer);

  // Starts to receive a message.  Returns null if the peer is sending too many.
  Receiving* Begin(const Key& key, const Arrival& arrival);

  // Stops counting the message as one that is being received.
  void Close(const Receiving& receiving);
  void Remember(Receiving& receiving);
  void OnTotalTime(const Receiving& receiving);
  void Forget(const Receiving& receiving);  // requires Close()

  uint32_t FirstWindow(const Transaction& transaction, Bytes message) const;
  void SendWindow(Transaction& transaction);

  // Restarts the timer of a send.  If more segments may be sent, it sends them
  // after other tasks had their turn; otherwise it limits the wait for an ACK
  // or, when everything is acknowledged, for the answer.
  void Rearm(Transaction& transaction);

  // Answers `to` with a packet that repeats its class header, with the given
  // RMPP header.
  void Reply(const Arrival& to, const RmppHeader& header);
  void Abort(const Arrival& of, RmppStatus status);

  AgentCore& agent_;
  absl::flat_hash_map<Key, std::list<Receiving>::iterator> receiving_;
  std::list<Receiving> open_;
  std::list<Receiving> closed_;  // oldest first
  absl::flat_hash_map<wire::Lid, uint32_t> open_by_peer_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_RMPP_AGENT_H_
