// Dispatcher: the MAD layer of one port.
#ifndef IBEMU_MAD_DISPATCHER_H_
#define IBEMU_MAD_DISPATCHER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "mad/agent.h"
#include "mad/host_core.h"
#include "mad/method_registry.h"
#include "mad/port.h"
#include "mad/send_watcher.h"
#include "mad/smi.h"
#include "mad/snooper.h"

namespace ibemu::mad {

// A Dispatcher hands the MADs that arrive at one port to agents.  An answer
// goes to the agent whose TID it carries, on any port of the host, and a
// request to the agent that registered its class and method.  A Get or Set that
// no agent registered for is answered with an error, as Linux does.
class Dispatcher : public PortListener {
 public:
  // Becomes the listener of `port`.
  Dispatcher(HostCore& host, Port& port, SmiNode node, int number);
  ~Dispatcher() override;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  HostCore& host() { return host_; }
  Port& port() { return port_; }
  MethodRegistry& registry() { return registry_; }
  const std::shared_ptr<Snoops>& snoops() const { return snoops_; }

  // Returns the port's LMC, the number of low bits of a LID that a sender may
  // choose.
  uint8_t lmc() const { return lmc_; }

  // Must be called after each event of the port.
  void OnPortEvent();

  // Ceases to be the port's listener: the device is gone.
  void OnRemoved();

  // Calls Port::Transmit() and tells the snoopers.  Everything that agents send
  // goes through it.
  absl::Status Transmit(const Outgoing& packet) {
    absl::Status status = port_.Transmit(packet);
    snoops_->Sent(packet, status);
    return status;
  }

  // Tell who watches the host of a send without an answer, and with one.
  void TellTimeout(UnansweredSend send) const {
    send.port = number_;
    if (host_.send_watcher() != nullptr) {
      host_.send_watcher()->OnTimeout(send);
    }
  }
  void TellAnswer(AnsweredSend send) const {
    send.port = number_;
    if (host_.send_watcher() != nullptr) host_.send_watcher()->OnAnswer(send);
  }

  // The way of a directed-route SMP: out of the port, to this node itself, or
  // nowhere because the route is wrong.
  enum class Path { kWire, kLocal, kRefused };

  // Takes the first step of a directed-route SMP that one of our agents sends.
  Path StartRoute(MadBytes& smp) const;

  // Hands an SMP for which StartRoute() returned kLocal to the port's own
  // agents or, if they don't handle it, to the agent that is registered for it.
  // An answer of the port's own agents is delivered to `sender` soon, after
  // this returns.
  void SendLocally(const Outgoing& packet, AgentCore& sender);

  void OnReceive(const Arrival& arrival) override;

 private:
  AgentCore* FindAgent(const MadBytes& mad) const;
  void RefuseUnmatched(const Arrival& request);

  HostCore& host_;
  Port& port_;
  SmiNode node_;
  uint8_t number_;
  uint8_t lmc_ = 0;
  MethodRegistry registry_;
  const std::shared_ptr<Snoops> snoops_ = std::make_shared<Snoops>();
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_DISPATCHER_H_
