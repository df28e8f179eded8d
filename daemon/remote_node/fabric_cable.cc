#include "daemon/remote_node/fabric_cable.h"

#include <string>

#include "base/status_macros.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "fabric/packet/packet_parser.h"
#include "fabric/subnet/subnet.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {

FabricCable::FabricCable(fabric::Fabric& fabric, fabric::PortId id,
                         mad::Device& device, int number)
    : fabric_(fabric), id_(id), device_(device), port_(device.port(number)) {}

void FabricCable::Send(std::span<const std::byte> bytes) {
  const absl::StatusOr<fabric::Packet> packet = fabric::ParsePacket(bytes);
  if (!packet.ok()) {
    spdlog::debug("{} sent what is no packet: {}",
                  fabric_.subnet().PortName(id_),
                  std::string(packet.status().message()));
    return;
  }
  Send(*packet);
}

void FabricCable::Send(const fabric::Packet& packets) {
  fabric_.SendFrom(id_, packets);
  sent_(packets);
}

mad::LocalVerdict FabricCable::ProcessLocal(const mad::Arrival& request,
                                            mad::MadBytes& reply) {
  return port_.ProcessLocal(request, reply);
}

void FabricCable::SetEnabled(bool enabled) { fabric_.SetPort(id_, enabled); }

void FabricCable::OnPacket(const fabric::Packet& packet) {
  if (listener_ == nullptr || take_(packet)) return;
  listener_->OnPacket(EncodePacket(packet));
}

void FabricCable::OnPortEvent() {
  if (listener_ != nullptr) listener_->OnPortEvent();
}

void FabricCable::OnReregister() {
  if (listener_ != nullptr) listener_->OnReregister();
}

FabricCables::FabricCables(fabric::Fabric& fabric, topology::NodeId node)
    : fabric_(fabric), node_(node), device_(fabric.device(node)) {
  for (int port = 1; port <= device_.last_port(); ++port) {
    cables_.emplace_back(
        fabric, fabric.subnet().port_id(fabric.subnet().node(node), port),
        device_, port);
  }
}

absl::StatusOr<std::unique_ptr<FabricCables>> FabricCables::Plug(
    fabric::Fabric& fabric, topology::NodeId node) {
  std::unique_ptr<FabricCables> cables(new FabricCables(fabric, node));
  IBEMU_RETURN_IF_ERROR(fabric.SetRemote(node, cables.get()));
  cables->plugged_ = true;
  cables->device_.SetListener(cables.get());
  return cables;
}

FabricCables::~FabricCables() {
  if (!plugged_) return;  // the node is somebody else's
  device_.SetListener(nullptr);
  fabric_.SetRemote(node_, nullptr).IgnoreError();
}

void FabricCables::OnPacket(fabric::PortId port, const fabric::Packet& packet) {
  cable(fabric_.subnet().port(port).number).OnPacket(packet);
}

bool FabricCables::OnPackets(fabric::PortId port,
                             const fabric::Packet& packets) {
  return cable(fabric_.subnet().port(port).number).OnPackets(packets);
}

void FabricCables::OnReregister(fabric::PortId port) {
  cable(fabric_.subnet().port(port).number).OnReregister();
}

void FabricCables::OnPortEvent(int port) { cable(port).OnPortEvent(); }

}  // namespace ibemu::daemon
