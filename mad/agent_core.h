// AgentCore: the implementation of Agent.
#ifndef IBEMU_MAD_AGENT_CORE_H_
#define IBEMU_MAD_AGENT_CORE_H_

#include <cstdint>
#include <memory>

#include "mad/agent.h"
#include "mad/dispatcher.h"
#include "mad/rmpp_agent.h"
#include "mad/transaction.h"

namespace ibemu::mad {

// An AgentCore sends the messages of one agent, repeats them, and matches
// answers to them.
class AgentCore final : public Agent {
 public:
  // Enters the agent in the host's table.  The caller adds it to the registry.
  AgentCore(Dispatcher& dispatcher, const Registration& registration,
            uint32_t high_tid, AgentClient& client);

  // Removes the agent from the host's table and from the registry.
  ~AgentCore() override;
  AgentCore(const AgentCore&) = delete;
  AgentCore& operator=(const AgentCore&) = delete;

  uint32_t hi_tid() const override { return high_tid_; }
  const Registration& registration() const override { return registration_; }
  absl::Status Send(OutgoingMessage message) override;
  void Cancel(uint32_t low_tid) override;

  // Handles a MAD that arrived for this agent.
  void OnArrival(const Arrival& arrival);

  // Delivers a MAD that did not come through the wire.  It need not match an
  // outstanding send.
  void DeliverLocal(IncomingMessage message);
  void SendDone(uint64_t cookie) { client_.OnSendDone(*this, cookie); }

  // Forgets all outstanding sends and incoming RMPP messages without calling
  // the client: the device is gone.
  void Die();

  // The rest is for RmppAgent.
  Dispatcher& dispatcher() { return dispatcher_; }
  Timers& timers() { return dispatcher_.host().timers(); }

  // Returns the outstanding send that `arrival` belongs to, or null.  Compares
  // TID, class and addresses, and nothing else, as ib_find_send_mad() in Linux.
  Transaction* Match(const Arrival& arrival) const;

  // Restarts the transaction's timer.
  void Arm(Transaction& transaction, absl::Duration timeout);

  // Ends the send and calls OnSendDone(), the client's last call for it.
  void Finish(Transaction& transaction);

 private:
  bool IsDuplicate(const OutgoingMessage& wanted) const;
  absl::Status SendPlain(const OutgoingMessage& message, Outgoing& packet);
  Transaction& Open(const Outgoing& packet, const OutgoingMessage& message);
  void OnTimeout(Transaction& transaction);
  void TellTimeout(const Transaction& transaction, bool agent_ended);
  void Close(Transaction& transaction);
  bool AddressesMatch(const Transaction& sent, const Arrival& arrival,
                      bool is_response) const;

  Dispatcher& dispatcher_;
  Registration registration_;
  uint32_t high_tid_;
  AgentClient& client_;
  TransactionTable sent_;
  std::unique_ptr<RmppAgent> rmpp_;  // null unless the core does RMPP
};

// Returns what a client sees of `arrival`, apart from the MAD itself.
IncomingMessage Envelope(const Arrival& arrival);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_AGENT_CORE_H_
