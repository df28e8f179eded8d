// What the parts of a fabric tell each other, written down.
#ifndef IBEMU_TESTS_FABRIC_RECORDERS_H_
#define IBEMU_TESTS_FABRIC_RECORDERS_H_

#include <utility>
#include <vector>

#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/mad_sender.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// A RecordedEvents is an agent's events of ports and nodes.
class RecordedEvents : public FabricEvents {
 public:
  void OnPortChange(PortId port) override { changes.push_back(port); }
  void OnClientReregister(PortId port) override { reregisters.push_back(port); }
  void OnLinkStateChange(topology::NodeId node) override {
    link_changes.push_back(node);
  }

  std::vector<PortId> changes;
  std::vector<PortId> reregisters;
  std::vector<topology::NodeId> link_changes;
};

// A RecordedMads is the MADs that somebody gave to be sent.
class RecordedMads : public MadSender {
 public:
  void SendMad(PortId from, const mad::Outgoing& packet) override {
    sent.emplace_back(from, packet);
  }

  std::vector<std::pair<PortId, mad::Outgoing>> sent;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_RECORDERS_H_
