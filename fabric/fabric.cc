#include "fabric/fabric.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/observer_list.h"
#include "base/status_macros.h"
#include "fabric/agents/node_agents.h"
#include "fabric/fabric_device.h"
#include "fabric/forwarding/endpoints.h"
#include "fabric/history/queue_pair_histories.h"
#include "fabric/history/sweep_history.h"
#include "fabric/routing/static_sm.h"
#include "fabric/sa/subnet_administration.h"
#include "fabric/sm/subnet_manager.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/subnet/fabric_watcher.h"
#include "fabric/subnet/node_names.h"
#include "fabric/subnet/port_copy.h"
#include "mad/wire/port_codes.h"

namespace ibemu::fabric {
struct Fabric::Impl : FabricEvents {
  Impl(const topology::Topology& topology, Timers& own_timers,
       const FabricOptions& options)
      : timers(own_timers),
        seed(options.seed),
        subnet(topology),
        links(subnet, *this),
        histories(own_timers),
        sweeps(subnet, own_timers),
        endpoints(subnet, links, *this, agents, own_timers, options.seed),
        agents(subnet, links, *this, endpoints, own_timers, options.seed),
        adapter_faults(subnet, *this, own_timers, options.seed) {}

  void OnPortChange(PortId port) override {
    watchers.ForEach(
        [&](FabricWatcher& watcher) { watcher.OnPortChange(port); });
    if (subnet_manager) subnet_manager->OnPortChange(port);
    // The host of a switch sees only port 0.
    const NodePort& changed = subnet.port(port);
    if (const auto hca = hcas.find(changed.node); hca != hcas.end()) {
      hca->second->OnPortChange(port);
    }
    if (!devices.contains(changed.node) ||
        subnet.management_port(port) != port) {
      return;
    }
    if (changed_ports.empty()) {
      endpoints.forwarder().AfterDelivery([this] { TellHosts(); });
    }
    if (std::find(changed_ports.begin(), changed_ports.end(), port) ==
        changed_ports.end()) {
      changed_ports.push_back(port);
    }
  }

  void OnHardwareChange(PortId port) override {
    watchers.ForEach(
        [&](FabricWatcher& watcher) { watcher.OnHardwareChange(port); });
  }

  // The adapter is no longer its host's, and with it goes what sets IsSM.
  void ForgetHostsSm(const Node& node) {
    for (NodePort& port : subnet.PortsOf(node)) {
      port.info.capability_mask &= ~mad::capability::kIsSm;
    }
  }

  void OnClientReregister(PortId port) override {
    const topology::NodeId node = subnet.port(port).node;
    if (RemoteAdapter* const remote = endpoints.RemoteOf(node)) {
      return remote->OnReregister(port);
    }
    const auto hca = hcas.find(node);
    if (hca != hcas.end()) hca->second->OnClientReregister(port);
  }

  void OnLinkStateChange(topology::NodeId node) override {
    agents.notices().OnLinkStateChange(node);
  }

  void OnTrap(PortId port, const mad::Notice& notice, bool repeated) override {
    watchers.ForEach([&](FabricWatcher& watcher) {
      watcher.OnTrap(port, notice, repeated);
    });
  }

  void OnDrop(const DroppedPacket& dropped) override {
    watchers.ForEach([&](FabricWatcher& watcher) { watcher.OnDrop(dropped); });
    if (QueuePairHistory* const sender = SenderOf(dropped.packet)) {
      sender->NoteDrop(PsnOf(dropped.packet), {.port = dropped.port,
                                               .cause = dropped.cause,
                                               .fault = dropped.fault});
    }
  }

  void OnDelay(const Packet& packet, PortId port, uint32_t fault) override {
    if (packet.transport == nullptr) {
      return watchers.ForEach([&](FabricWatcher& watcher) {
        watcher.OnMadDelay(packet, port, fault);
      });
    }
    if (QueuePairHistory* const sender = SenderOf(packet)) {
      sender->NoteDelay(PsnOf(packet), {.port = port, .fault = fault});
    }
  }

  // REQUIRES: it is a queue pair's.
  static QueuePairHistory::Psn PsnOf(const Packet& packet) {
    const Transport& transport = *packet.transport;
    if (transport.service == verbs::QpType::kUd) return std::nullopt;
    return transport.psn;
  }

  // The packet names its sender by LID and number.  Null: no queue pair's.
  QueuePairHistory* SenderOf(const Packet& packet) {
    if (packet.transport == nullptr) return nullptr;
    const auto owner =
        std::ranges::find_if(hcas, [slid = packet.slid](const auto& hca) {
          return hca.second->Owns(slid);
        });
    return owner == hcas.end()
               ? nullptr
               : histories.Find(owner->first, packet.source_qpn);
  }

  void RemoveHca(topology::NodeId node) {
    std::erase_if(removed_hcas,
                  [](const auto& removed) { return !removed->InUse(); });
    const auto found = hcas.find(node);
    if (found == hcas.end()) return;
    found->second->Remove();
    removed_hcas.push_back(std::move(found->second));
    hcas.erase(found);
  }

  void BringBack(topology::NodeId node, absl::FunctionRef<void()> power_on) {
    if (!static_sm) return power_on();
    static_sm->BringBack(node, power_on);
  }

  void TellHosts() {
    std::vector<PortId> ports;
    ports.swap(changed_ports);
    for (const PortId id : ports) {
      const NodePort& port = subnet.port(id);
      mad::DeviceListener* listener = devices.at(port.node)->listener();
      if (listener != nullptr) listener->OnPortEvent(port.number);
    }
  }

  Timers& timers;
  const uint64_t seed;
  ObserverList<FabricWatcher> watchers;
  Subnet subnet;
  Links links;
  QueuePairHistories histories;
  SweepHistory sweeps;
  Endpoints endpoints;
  NodeAgents agents;
  AdapterFaults adapter_faults;
  std::optional<StaticSm> static_sm;                   // with --sm=static
  std::optional<SubnetManager> subnet_manager;         // with --sm=builtin
  std::optional<SubnetAdministration> administration;  // with --sm=builtin
  absl::flat_hash_map<topology::NodeId, std::unique_ptr<FabricDevice>> devices;
  absl::flat_hash_map<topology::NodeId, std::unique_ptr<Hca>> hcas;
  // The descriptions of nodes with remote adapters, as they were before.
  absl::flat_hash_map<topology::NodeId, std::string> described;
  // Adapters that were pulled out while programs still have them open.
  std::vector<std::unique_ptr<Hca>> removed_hcas;
  std::vector<PortId> changed_ports;  // changed since the last TellHosts()
};

Fabric::Fabric(const topology::Topology& topology, Timers& timers,
               const FabricOptions& options)
    : impl_(std::make_unique<Impl>(topology, timers, options)) {}

Fabric::~Fabric() = default;

size_t Fabric::node_count() const { return impl_->subnet.nodes().size(); }

uint64_t Fabric::seed() const { return impl_->seed; }

const Subnet& Fabric::subnet() const { return impl_->subnet; }

Subnet& Fabric::subnet() { return impl_->subnet; }

Links& Fabric::links() { return impl_->links; }

const QueuePairHistories& Fabric::histories() const { return impl_->histories; }

QueuePairHistories& Fabric::histories() { return impl_->histories; }

const SweepHistory& Fabric::sweeps() const { return impl_->sweeps; }

const ForwardingTotals& Fabric::totals() const {
  return impl_->endpoints.forwarder().totals();
}

absl::StatusOr<topology::NodeId> Fabric::Find(std::string_view wanted) const {
  return NodeNames(impl_->subnet).Find(wanted);
}

absl::StatusOr<std::vector<topology::NodeId>> Fabric::FindHost(
    std::string_view wanted) const {
  return NodeNames(impl_->subnet).FindHost(wanted);
}

mad::Device& Fabric::device(topology::NodeId node) {
  auto& device = impl_->devices[node];
  if (!device) {
    device = std::make_unique<FabricDevice>(impl_->subnet, impl_->endpoints,
                                            impl_->agents.notices(), *impl_,
                                            impl_->sweeps, node);
  }
  return *device;
}

verbs::Provider& Fabric::provider(topology::NodeId node) {
  auto& hca = impl_->hcas[node];
  if (!hca)
    hca = std::make_unique<Hca>(impl_->subnet, impl_->endpoints, impl_->timers,
                                impl_->histories, impl_->adapter_faults, node);
  return *hca;
}

Hca* Fabric::FindHca(topology::NodeId node) const {
  const auto found = impl_->hcas.find(node);
  return found == impl_->hcas.end() ? nullptr : found->second.get();
}

AdapterFaults& Fabric::adapter_faults() { return impl_->adapter_faults; }

absl::Status Fabric::CheckRemote(topology::NodeId id) const {
  const Node& node = subnet().node(id);
  if (node.type != mad::NodeType::kChannelAdapter) {
    return absl::FailedPreconditionError(
        absl::StrFormat("\"%s\" is no channel adapter", node.description));
  }
  if (node.remote) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "\"%s\" has an adapter elsewhere already", node.description));
  }
  for (int number = 1; number <= node.port_count; ++number) {
    if (impl_->endpoints.ServiceAt(subnet().port_id(node, number))) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "the subnet manager of --sm=builtin is on \"%s\": choose another "
          "node, or --sm=none",
          node.description));
    }
  }
  return absl::OkStatus();
}

absl::Status Fabric::SetRemote(topology::NodeId id, RemoteAdapter* adapter) {
  if (adapter != nullptr) IBEMU_RETURN_IF_ERROR(CheckRemote(id));
  Node& node = impl_->subnet.node(id);
  impl_->endpoints.SetRemote(id, adapter);
  OnHardwareChange(impl_->subnet.port_id(node, 1));
  if (adapter != nullptr) impl_->described[id] = node.description;
  if (adapter == nullptr) {
    impl_->ForgetHostsSm(node);
    // The host that had its adapter there may have changed it.
    const auto before = impl_->described.extract(id);
    if (before) node.Describe(before.mapped());
    if (!node.on) return absl::OkStatus();
    impl_->links.SetNode(id, false);
    impl_->BringBack(id, [&] { impl_->links.SetNode(id, true); });
    return absl::OkStatus();
  }
  for (int number = 1; number <= node.port_count; ++number) {
    SetPort(impl_->subnet.port_id(node, number), false);
  }
  return absl::OkStatus();
}

void Fabric::SendFrom(PortId port, const Packet& packet) {
  if (packet.vl15) impl_->sweeps.NoteSmp(port, packet.mad);
  impl_->endpoints.forwarder().SendByAddress(port, packet);
}

void Fabric::SetPort(PortId port, bool enabled) {
  impl_->links.SetPhysicalState(port, enabled
                                          ? mad::PortPhysicalState::kPolling
                                          : mad::PortPhysicalState::kDisabled);
  if (enabled && impl_->static_sm) impl_->static_sm->ActivateLink(port);
}

void Fabric::OnBadKey(PortId port, const mad::BadKey& bad) {
  impl_->endpoints.OnBadKey(port, bad);
}

void Fabric::SetBeyond(topology::NodeId node, RemoteAgents* agents,
                       topology::NodeId beyond, RemoteAdapter* adapter) {
  impl_->endpoints.SetAgents(node, agents);
  impl_->endpoints.SetRemote(beyond, adapter);
  impl_->subnet.node(beyond).is_beyond = adapter != nullptr;
}

void Fabric::SetCopy(PortId port, const PortCopy& copy) {
  if (TakeCopy(impl_->subnet, port, copy)) impl_->OnPortChange(port);
}

void Fabric::AskToReregister(PortId port) { impl_->OnClientReregister(port); }

absl::StatusOr<PortId> Fabric::FindPort(topology::NodeId id, int number) const {
  const Node& node = impl_->subnet.node(id);
  if (number < 1 || number > node.port_count) {
    return absl::NotFoundError(absl::StrFormat(
        "port %d of \"%s\" does not exist: it has ports 1 to %d", number,
        node.description, node.port_count));
  }
  return impl_->subnet.port_id(node, number);
}

absl::StatusOr<PortId> Fabric::FindCable(topology::NodeId id,
                                         int number) const {
  absl::StatusOr<PortId> port = FindPort(id, number);
  if (port.ok() && impl_->subnet.port(*port).peer == kNoPort) {
    return absl::NotFoundError(
        absl::StrFormat("port %d of \"%s\" has no cable", number,
                        impl_->subnet.node(id).description));
  }
  return port;
}

absl::Status Fabric::SetLink(topology::NodeId node, int port, bool up,
                             uint32_t fault) {
  IBEMU_ASSIGN_OR_RETURN(const PortId id, FindCable(node, port));
  const bool restored = up && !impl_->subnet.port(id).cable_up;
  impl_->links.SetCable(id, up, fault);
  if (restored && impl_->static_sm) impl_->static_sm->ActivateLink(id);
  return absl::OkStatus();
}

uint32_t Fabric::NewFaultNumber() {
  return impl_->endpoints.forwarder().NewFaultNumber();
}

uint32_t Fabric::CutBy(PortId port) const { return impl_->links.CutBy(port); }

absl::Status Fabric::Connect(topology::NodeId node, int port,
                             topology::NodeId peer, int peer_port) {
  IBEMU_ASSIGN_OR_RETURN(const PortId a, FindPort(node, port));
  IBEMU_ASSIGN_OR_RETURN(const PortId b, FindPort(peer, peer_port));
  Subnet& subnet = impl_->subnet;
  if (a == b) {
    return absl::FailedPreconditionError(
        absl::StrCat("a cable has two ends: both are ", subnet.PortName(a)));
  }
  for (const PortId end : {a, b}) {
    const NodePort& taken = subnet.port(end);
    if (taken.peer == kNoPort || !taken.cable_up) continue;
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is connected already, to %s: cut that link first",
                        subnet.PortName(end), subnet.PortName(taken.peer)));
  }
  if (subnet.port(a).peer == b) return SetLink(node, port, true);
  impl_->links.Relink(a, b);
  if (impl_->static_sm) impl_->static_sm->ActivateLink(a);
  return absl::OkStatus();
}

void Fabric::SetLid(PortId id, wire::Lid lid, int lmc) {
  NodePort& port = impl_->subnet.port(id);
  port.info.lid = lid;
  if (lmc >= 0) port.info.lmc = static_cast<uint8_t>(lmc);
  // A subnet manager sweeps again when it sees PortStateChange.
  const PortId beside = port.peer == kNoPort ? id : port.peer;
  for (const PortId end : {id, beside}) {
    Node& node = impl_->subnet.NodeOf(end);
    if (node.is_switch()) node.sw->info.port_state_change = true;
  }
  impl_->OnPortChange(id);
}

void Fabric::OnHardwareChange(PortId port) { impl_->OnHardwareChange(port); }

void Fabric::SetNode(topology::NodeId node, bool up) {
  if (!up) return impl_->links.SetNode(node, false);
  impl_->BringBack(node, [&] { impl_->links.SetNode(node, true); });
}

absl::Status Fabric::RemoveDevice(topology::NodeId id) {
  Node& node = impl_->subnet.node(id);
  if (!node.plugged) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the device of \"%s\" is removed already", node.description));
  }
  if (node.remote) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the adapter of \"%s\" is that of another machine, which alone can "
        "pull it out",
        node.description));
  }
  impl_->RemoveHca(id);
  impl_->ForgetHostsSm(node);
  impl_->links.SetPlugged(id, false);
  const auto device = impl_->devices.find(id);
  if (device != impl_->devices.end()) device->second->Remove();
  return absl::OkStatus();
}

absl::Status Fabric::AddDevice(topology::NodeId id) {
  const Node& node = impl_->subnet.node(id);
  if (node.plugged) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the device of \"%s\" is there already", node.description));
  }
  impl_->BringBack(id, [&] { impl_->links.SetPlugged(id, true); });
  return absl::OkStatus();
}

absl::StatusOr<FaultId> Fabric::AddFault(topology::NodeId node, int port,
                                         Direction direction,
                                         const LinkFaults& faults,
                                         const FaultChance& chance) {
  IBEMU_ASSIGN_OR_RETURN(const PortId id, FindCable(node, port));
  const PortId sender =
      direction == Direction::kTransmit ? id : impl_->subnet.port(id).peer;
  return impl_->endpoints.forwarder().AddFault(sender, faults, chance);
}

void Fabric::RemoveFault(FaultId fault) {
  impl_->endpoints.forwarder().RemoveFault(fault);
}

const FaultCounts& Fabric::CountsOf(FaultId fault) const {
  return impl_->endpoints.forwarder().CountsOf(fault);
}

AgentFaultId Fabric::AddAgentFault(topology::NodeId node,
                                   const LinkFaults& faults,
                                   const FaultChance& chance) {
  return impl_->agents.faults().Add(node, faults, chance);
}

void Fabric::RemoveFault(AgentFaultId fault) {
  impl_->agents.faults().Remove(fault);
}

const FaultCounts& Fabric::CountsOf(AgentFaultId fault) const {
  return impl_->agents.faults().CountsOf(fault);
}

void Fabric::AddWatcher(FabricWatcher& watcher) {
  impl_->watchers.Add(watcher);
}

void Fabric::RemoveWatcher(const FabricWatcher& watcher) {
  impl_->watchers.Remove(watcher);
}

Forwarder& Fabric::forwarder() { return impl_->endpoints.forwarder(); }

SubnetManager* Fabric::subnet_manager() {
  return impl_->subnet_manager ? &*impl_->subnet_manager : nullptr;
}

absl::Status StartSubnetManager(Fabric& fabric) {
  Fabric::Impl& impl = *fabric.impl_;
  SubnetManager& manager = impl.subnet_manager.emplace(
      impl.subnet, impl.links, impl, impl.endpoints, impl.sweeps, impl.timers);
  absl::Status status = manager.Start();
  if (!status.ok()) {
    impl.subnet_manager.reset();
    return status;
  }
  SubnetAdministration& administration = impl.administration.emplace(
      impl.subnet, impl, impl.endpoints, manager, impl.timers, manager.port(),
      [&manager] {
        std::vector<SmIdentity> managers = {manager.self()};
        if (!manager.IsMaster() && manager.master().port != kNoPort) {
          managers.push_back(manager.master());
        }
        return managers;
      });
  manager.SetGmpHandler(&administration);
  manager.AddObserver(administration);
  administration.OnMastership(manager.IsMaster());
  impl.endpoints.SetManagementService(manager.port(), &manager);
  return absl::OkStatus();
}

absl::Status ConfigureStatically(Fabric& fabric) {
  return fabric.impl_->static_sm
      .emplace(fabric.impl_->subnet, fabric.impl_->links)
      .Configure();
}

}  // namespace ibemu::fabric
