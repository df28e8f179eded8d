// An agent from the inside.
#ifndef IBEMU_MAD_AGENT_CORE_H_
#define IBEMU_MAD_AGENT_CORE_H_

#include <cstdint>
#include <memory>

#include "mad/agent.h"
#include "mad/dispatcher.h"
#include "mad/rmpp_agent.h"
#include "mad/transaction.h"

namespace ibemu::mad {

class AgentCore final : public Agent {
 public:
  // Enters the host's table; the registry's entry is the caller's part.
  AgentCore(Dispatcher& dispatcher, const Registration& registration,
            uint32_t high_tid, AgentClient& client);

  // Leaves the host's table and the registry.
  ~AgentCore() override;
  AgentCore(const AgentCore&) = delete;
  AgentCore& operator=(const AgentCore&) = delete;

  uint32_t hi_tid() const override { return high_tid_; }
  const Registration& registration() const override { return registration_; }
  absl::Status Send(OutgoingMessage message) override;
  absl::Status Cancel(uint64_t cookie) override {
    return SetTimeout(cookie, absl::ZeroDuration());
  }
  absl::Status SetTimeout(uint64_t cookie, absl::Duration timeout) override;

  // A MAD for this agent came to `arrival`'s port.
  void OnArrival(const Arrival& arrival);

  // A MAD that needs no outstanding send: it came without the wire.
  void DeliverLocal(IncomingMessage message);
  void SendDone(uint64_t cookie) { client_.OnSendDone(*this, cookie); }

  // The device is gone.
  void Die();

  // The rest is for RmppAgent.
  Dispatcher& dispatcher() { return dispatcher_; }
  Timers& timers() { return dispatcher_.host().timers(); }

  // The outstanding send that `arrival` belongs to, or null.  Linux's
  // ib_find_send_mad(): TID, class and how it was addressed; nothing else.
  Transaction* Match(const Arrival& arrival) const;

  // Starts the transaction's timer anew.
  void Arm(Transaction& transaction, absl::Duration timeout);

  // The send is over and the client hears no more of it than that.
  void Finish(Transaction& transaction);

 private:
  bool IsDuplicate(const OutgoingMessage& wanted) const;
  absl::Status SendPlain(const OutgoingMessage& message, Outgoing& packet);
  Transaction& Open(const Outgoing& packet, const OutgoingMessage& message);
  void OnTimeout(Transaction& transaction);
  void Close(Transaction& transaction);
  bool AddressesMatch(const Transaction& sent, const Arrival& arrival,
                      bool is_response) const;

  Dispatcher& dispatcher_;
  Registration registration_;
  uint32_t high_tid_;
  AgentClient& client_;
  TransactionTable sent_;
  std::unique_ptr<RmppAgent> rmpp_;  // null unless RMPP is the core's business
};

// What a client sees of `arrival`, apart from the MAD itself.
IncomingMessage Envelope(const Arrival& arrival);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_AGENT_CORE_H_
