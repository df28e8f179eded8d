// FabricCable and FabricCables: the place of a node in the fabric, for an
// adapter that is not the fabric's.
#ifndef IBEMU_DAEMON_REMOTE_NODE_FABRIC_CABLE_H_
#define IBEMU_DAEMON_REMOTE_NODE_FABRIC_CABLE_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "fabric/fabric.h"
#include "fabric/forwarding/endpoints.h"
#include "hca/model/cable.h"
#include "mad/device.h"

namespace ibemu::daemon {

// One port of the node, as the adapter's model sees it.
class FabricCable : public hca::model::Cable {
 public:
  FabricCable(fabric::Fabric& fabric, fabric::PortId id, mad::Device& device,
              int number);

  void SetListener(hca::model::CableListener* listener) override {
    listener_ = listener;
  }
  void Send(std::span<const std::byte> packet) override;
  // Sends a packet, or several of one message.
  void Send(const fabric::Packet& packets);
  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override;
  mad::PortInfo Info() const override { return port_.Info(); }
  wire::Guid node_guid() const override { return device_.node_guid(); }
  int GidCount() const override { return port_.GidCount(); }
  wire::Gid GidAt(int index) const override { return port_.GidAt(index); }
  int PKeyCount() const override { return port_.PKeyCount(); }
  uint16_t PKeyAt(int index) const override { return port_.PKeyAt(index); }
  void SetIsSm(bool is_sm) override { port_.SetIsSm(is_sm); }
  void OnBadKey(const mad::BadKey& bad) override { fabric_.OnBadKey(id_, bad); }
  void SetEnabled(bool enabled) override;

  fabric::PortId id() const { return id_; }
  // Calls `take` with each packet that comes, or several at once.  If it
  // returns false, as without it, the listener gets them one by one.
  void TakePacketsBy(std::function<bool(const fabric::Packet& packets)> take) {
    take_ = std::move(take);
  }
  // Calls `sent` with what Send() has sent.
  void OnSent(std::function<void(const fabric::Packet&)> sent) {
    sent_ = std::move(sent);
  }

  // From the fabric.
  void OnPacket(const fabric::Packet& packet);
  bool OnPackets(const fabric::Packet& packets) const { return take_(packets); }
  void OnPortEvent();
  void OnReregister();

 private:
  fabric::Fabric& fabric_;
  const fabric::PortId id_;
  mad::Device& device_;
  mad::Port& port_;
  hca::model::CableListener* listener_ = nullptr;
  std::function<bool(const fabric::Packet&)> take_ = [](const auto&) {
    return false;
  };
  std::function<void(const fabric::Packet&)> sent_ = [](const auto&) {};
};

// All of a node's ports, for as long as this lives.
class FabricCables : private fabric::RemoteAdapter,
                     private mad::DeviceListener {
 public:
  // `fabric` must outlive it.  Nobody else may be the node's host.
  //
  // Errors: fabric::Fabric::SetRemote()'s.
  static absl::StatusOr<std::unique_ptr<FabricCables>> Plug(
      fabric::Fabric& fabric, topology::NodeId node);
  ~FabricCables() override;
  FabricCables(const FabricCables&) = delete;
  FabricCables& operator=(const FabricCables&) = delete;

  // Changes the node's description, as its host does.
  void Describe(std::string_view text) { device_.SetNodeDescription(text); }

  // The adapter answers no SMP itself: it would ask the node's agents, which
  // answer those that only read before it sees them.
  void LeaveReadsToAgents() { leaves_reads_ = true; }

  topology::NodeId node() const { return node_; }
  int port_count() const { return static_cast<int>(cables_.size()); }
  // 1 ... port_count().
  FabricCable& cable(int port) {
    return cables_[static_cast<size_t>(port - 1)];
  }

 private:
  FabricCables(fabric::Fabric& fabric, topology::NodeId node);

  void OnPacket(fabric::PortId port, const fabric::Packet& packet) override;
  bool OnPackets(fabric::PortId port, const fabric::Packet& packets) override;
  void OnReregister(fabric::PortId port) override;
  bool LeavesReadsToAgents() const override { return leaves_reads_; }
  void OnPortEvent(int port) override;
  // Pulled out: its links are down, and what it sends is lost.
  void OnRemoved() override {}

  fabric::Fabric& fabric_;
  const topology::NodeId node_;
  mad::Device& device_;
  std::deque<FabricCable> cables_;
  bool plugged_ = false;
  bool leaves_reads_ = false;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_FABRIC_CABLE_H_
