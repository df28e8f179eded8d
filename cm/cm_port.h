// CmPort: the communication manager's agent on one port.
#ifndef IBEMU_CM_CM_PORT_H_
#define IBEMU_CM_CM_PORT_H_

#include <cstdint>
#include <memory>

#include "cm/connection_manager.h"
#include "cm/sending.h"
#include "cm/wire/message.h"
#include "mad/address.h"
#include "mad/agent.h"
#include "mad/host.h"

namespace ibemu::cm {

// A CmPort sends and receives the MADs of class CommMgt on QP1 of a port, and
// counts them.
class CmPort : private mad::AgentClient {
 public:
  class Receiver {
   public:
    // Never called before a call of Send() returned.
    virtual void OnCmMad(CmPort& port, Message which,
                         const mad::IncomingMessage& mad) = 0;

   protected:
    ~Receiver() = default;
  };

  // Registers the agent.  If another agent has the class, the port sends and
  // receives nothing, as on Linux.  Both must outlive this.
  CmPort(mad::Host& host, int number, Receiver& receiver);
  CmPort(const CmPort&) = delete;
  CmPort& operator=(const CmPort&) = delete;

  int number() const { return number_; }
  bool usable() const { return agent_ != nullptr; }

  // Returns the high half of the agent's TIDs.  Requires usable().
  uint32_t high_tid() const { return agent_->hi_tid(); }

  const CmCounters& counters() const { return counters_; }
  void CountDuplicate(Message which);

  // Sends once.  What can't be sent is lost, as on the wire.
  void Send(const Sending& sending, const mad::AddressVector& to);

 private:
  void OnMad(mad::Agent& agent, mad::IncomingMessage message) override;
  void OnSendDone(mad::Agent&, uint64_t) override {}
  void OnSendTimeout(mad::Agent&, uint64_t) override {}

  int number_;
  Receiver& receiver_;
  CmCounters counters_;
  std::unique_ptr<mad::Agent> agent_;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_CM_PORT_H_
