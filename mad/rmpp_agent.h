// RMPP on behalf of an agent: what Linux calls kernel RMPP.
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

// Gives RmppSender and RmppReceiver their packets and their time.  Facts:
// drivers/infiniband/core/mad_rmpp.c in Linux.
class RmppAgent {
 public:
  // Messages that one peer may have on their way in at a time.  The first
  // segment of another one is dropped, as if it had been lost: Linux has no
  // such limit but its memory, which a peer could fill with first segments.
  static constexpr uint32_t kMaxFromPeer = 4096;

  // Requests that are remembered when they are complete, the newest ones.
  static constexpr size_t kMaxRemembered = 4096;

  explicit RmppAgent(AgentCore& agent) : agent_(agent) {}
  ~RmppAgent() { Die(); }
  RmppAgent(const RmppAgent&) = delete;
  RmppAgent& operator=(const RmppAgent&) = delete;

  // Sends the first segments of a message; its address is in the transaction.
  //
  // Errors: those of Port::Transmit(); nothing was sent then.
  absl::Status Start(Transaction& transaction, OutgoingMessage message);

  // An active RMPP packet for the agent.  Gives the message that it completes.
  std::optional<IncomingMessage> OnPacket(const Arrival& arrival);

  // Starts the timer of a send anew: it goes on with its window when others had
  // their turn, waits for an ACK or, when all is acknowledged, for the answer.
  void Rearm(Transaction& transaction);

  // The timer rang.  False: no ACK came, and it was the last try.
  bool OnTimeout(Transaction& transaction);

  // Forgets messages that are on their way in.
  void Die();

 private:
  // Linux's find_rmpp_recv().
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
  struct Receiving {
    explicit Receiving(const Key& own_key, const Arrival& first_segment)
        : key(own_key),
          receiver(HeaderBytes(own_key.mgmt_class)),
          first(first_segment) {}

    Key key;
    RmppReceiver receiver;
    Arrival first;               // the segment that opened it
    uint32_t answer_window = 1;  // segments of our answer before its first ACK
    TimerId timer = TimerId::kNone;
  };

  static Key KeyOf(const Arrival& arrival);

  std::optional<IncomingMessage> OnData(const RmppHeader& data,
                                        const Arrival& arrival);
  void OnControl(const RmppHeader& control, const Arrival& arrival);
  void OnAck(const RmppHeader& ack, const Arrival& arrival);
  void EndSend(const Arrival& arrival);

  // Null: the peer has too many on their way.
  Receiving* Begin(const Key& key, const Arrival& arrival);
  // No longer on its way.
  void Close(const Receiving& receiving);
  void Remember(Receiving& receiving);
  void OnTotalTime(const Receiving& receiving);
  void Forget(const Receiving& receiving);  // requires Close()

  uint32_t FirstWindow(const Transaction& transaction, Bytes message) const;
  void SendWindow(Transaction& transaction);

  // Answers `to` with a packet of its own header and the given RMPP header.
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
