// The MAD layer of one port.
#ifndef IBEMU_MAD_DISPATCHER_H_
#define IBEMU_MAD_DISPATCHER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "mad/agent.h"
#include "mad/host_core.h"
#include "mad/method_registry.h"
#include "mad/port.h"
#include "mad/smi.h"
#include "mad/snooper.h"

namespace ibemu::mad {

// Receives for the agents of one port: answers go to the agent whose TID they
// carry, on any port of the host, requests to the agent that registered their
// class and method.  Linux answers a Get or Set that nobody wants; so does
// this.
class Dispatcher : public PortListener {
 public:
  // Takes the port's listener place.
  Dispatcher(HostCore& host, Port& port, SmiNode node, int number);
  ~Dispatcher() override;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  HostCore& host() { return host_; }
  Port& port() { return port_; }
  MethodRegistry& registry() { return registry_; }
  Snoops& snoops() { return snoops_; }

  // The port's LMC: which path bits of a LID are the sender's own choice.
  uint8_t lmc() const { return lmc_; }

  // To be called after each event of the port.
  void OnPortEvent();

  // The device is gone: leaves the port's listener place.
  void OnRemoved();

  // Port::Transmit(), for all that agents send.
  absl::Status Transmit(const Outgoing& packet) {
    absl::Status status = port_.Transmit(packet);
    snoops_.Sent(packet, status);
    return status;
  }

  enum class Path { kWire, kLocal, kRefused };
  // The first step of a directed-route SMP that one of our agents sends.
  Path StartRoute(MadBytes& smp) const;

  // Hands an SMP that got kLocal to the port's own agents, or to the one that
  // is registered for it; what they answer reaches `sender` soon.
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
  Snoops snoops_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_DISPATCHER_H_
