#include "fabric/fabric_device.h"

#include <cassert>
#include <utility>

#include "mad/wire/port_codes.h"

namespace ibemu::fabric {

FabricPort::FabricPort(Subnet& subnet, Endpoints& endpoints,
                       SmaNotices& notices, FabricEvents& events,
                       SweepHistory& sweeps, PortId id)
    : subnet_(subnet),
      endpoints_(endpoints),
      notices_(notices),
      events_(events),
      sweeps_(sweeps),
      id_(id) {}

FabricPort::~FabricPort() { endpoints_.SetListener(id_, nullptr); }

absl::Status FabricPort::Transmit(const mad::Outgoing& packet) {
  if (!subnet_.NodeOf(id_).plugged) {
    return absl::UnavailableError("the device is gone");
  }
  if (packet.qp == 0) sweeps_.NoteSmp(id_, packet.mad);
  return endpoints_.Transmit(id_, packet);
}

mad::LocalVerdict FabricPort::ProcessLocal(const mad::Arrival& request,
                                           mad::MadBytes& reply) {
  return endpoints_.ProcessLocal(id_, request, reply);
}

void FabricPort::SetListener(mad::PortListener* listener) {
  endpoints_.SetListener(id_, listener);
}

mad::PortInfo FabricPort::Info() const { return subnet_.port(id_).info; }

int FabricPort::GidCount() const { return kGuidTableEntries; }

wire::Gid FabricPort::GidAt(int index) const {
  if (index < 0 || index >= kGuidTableEntries) return {};
  const NodePort& port = subnet_.port(id_);
  const uint64_t guid = port.GuidAt(index);
  if (guid == 0) return {};
  return {.prefix = port.info.gid_prefix, .interface_id = guid};
}

int FabricPort::PKeyCount() const {
  return subnet_.NodeOf(id_).p_key_entries();
}

uint16_t FabricPort::PKeyAt(int index) const {
  return index < 0 ? uint16_t{0} : subnet_.port(id_).PKeyAt(index);
}

void FabricPort::SetIsSm(bool is_sm) {
  if (RemoteAgents* const agents =
          endpoints_.AgentsOf(subnet_.port(id_).node)) {
    return agents->SetIsSm(id_, is_sm);
  }
  ManagementService* const service = endpoints_.ServiceAt(id_);
  if (service != nullptr && is_sm) service->OnHostSm(true);
  SetCapability(is_sm);
  if (service != nullptr && !is_sm) service->OnHostSm(false);
}

void FabricPort::SetCapability(bool is_sm) {
  uint32_t& mask = subnet_.port(id_).info.capability_mask;
  const uint32_t wanted =
      is_sm ? mask | mad::capability::kIsSm : mask & ~mad::capability::kIsSm;
  if (mask == wanted) return;
  mask = wanted;
  notices_.OnLocalChange(id_, SmaNotices::LocalChange::kCapabilityMask);
  events_.OnPortChange(id_);
}

FabricDevice::FabricDevice(Subnet& subnet, Endpoints& endpoints,
                           SmaNotices& notices, FabricEvents& events,
                           SweepHistory& sweeps, topology::NodeId id)
    : subnet_(subnet), endpoints_(endpoints), notices_(notices), id_(id) {
  const int last = FabricDevice::last_port();
  for (int number = FabricDevice::first_port(); number <= last; ++number) {
    ports_.emplace_back(subnet, endpoints, notices, events, sweeps,
                        subnet.port_id(id, number));
  }
}

mad::NodeType FabricDevice::type() const { return node().type; }

wire::Guid FabricDevice::node_guid() const { return node().node_guid; }

wire::Guid FabricDevice::system_image_guid() const {
  return node().system_image_guid;
}

std::string FabricDevice::node_description() const {
  return node().description;
}

void FabricDevice::SetNodeDescription(std::string_view text) {
  Node& node = subnet_.node(id_);
  if (node.description == text.substr(0, 64)) return;
  node.Describe(text);
  if (RemoteAgents* const agents = endpoints_.AgentsOf(id_)) {
    return agents->OnDescription(node.description);
  }
  for (int number = first_port(); number <= last_port(); ++number) {
    notices_.OnLocalChange(subnet_.port_id(id_, number),
                           SmaNotices::LocalChange::kNodeDescription);
  }
}

int FabricDevice::first_port() const { return node().first_number(); }

int FabricDevice::last_port() const {
  return node().is_switch() ? 0 : node().port_count;
}

mad::Port& FabricDevice::port(int number) {
  assert(number >= first_port() && number <= last_port());
  return ports_[static_cast<size_t>(number - first_port())];
}

void FabricDevice::SetListener(mad::DeviceListener* listener) {
  listener_ = listener;
}

void FabricDevice::Remove() {
  mad::DeviceListener* const listener = std::exchange(listener_, nullptr);
  if (listener != nullptr) listener->OnRemoved();
}

}  // namespace ibemu::fabric
