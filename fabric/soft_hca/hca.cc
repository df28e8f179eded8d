#include "fabric/soft_hca/hca.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "fabric/soft_hca/hca_attributes.h"
#include "fabric/soft_hca/protection_domain.h"
#include "fabric/soft_hca/queue_pair.h"
#include "verbs/parts/completion_queue.h"
#include "verbs/parts/device_limits.h"
#include "verbs/parts/memory_region.h"
#include "verbs/parts/receive_queue.h"
#include "wire/ip_text.h"

namespace ibemu::fabric {
namespace {

constexpr uint32_t kMaxInline = 1024;  // bytes
constexpr uint32_t kMulticastQpn = 0xffffff;

// A verbs object that is counted against the limit of its kind.
template <class Base>
class Counted : public Base {
 public:
  template <class... Arguments>
  explicit Counted(int& count, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), count_(count) {
    ++count_;
  }
  ~Counted() override { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  int& count_;
};

// A gate that exists before the object whose events it passes on.
template <class Gate>
struct GateHolder {
  Gate gate;
};

// A verbs object whose events pass a gate.
template <class Gate, class Base>
class Gated final : private GateHolder<Gate>, public Base {
 public:
  // `process`: whose it is.  `listener`: who hears of them.  `arguments`: those
  // of Base but for its last, the listener.
  template <class Listener, class... Arguments>
  Gated(const EventPath& events, uint64_t process, Listener& listener,
        Arguments&&... arguments)
      : GateHolder<Gate>{Gate(events, process, listener)},
        Base(std::forward<Arguments>(arguments)..., GateHolder<Gate>::gate) {}
};

uint64_t ProcessOf(const verbs::Pd& pd) {
  return static_cast<const ProtectionDomain&>(pd).process;
}

absl::Status NoMore(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrFormat("the device has no more %s", what));
}

verbs::GidBytes BytesOf(const wire::Gid& gid) {
  verbs::GidBytes bytes;
  for (size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<uint8_t>(gid.prefix >> (56 - 8 * i));
    bytes[8 + i] = static_cast<uint8_t>(gid.interface_id >> (56 - 8 * i));
  }
  return bytes;
}

wire::Gid GidOf(const uint8_t (&bytes)[16]) {
  wire::Gid gid;
  for (size_t i = 0; i < 8; ++i) {
    gid.prefix = gid.prefix << 8 | bytes[i];
    gid.interface_id = gid.interface_id << 8 | bytes[8 + i];
  }
  return gid;
}

// "0xffff, 0x8001": the keys that there are, the first kMax of them.
std::string PKeysText(const NodePort& port) {
  constexpr size_t kMax = 8;
  std::vector<std::string> keys;
  for (int index = 0; index < kPKeyTableEntries && keys.size() <= kMax;
       ++index) {
    const uint16_t key = port.PKeyAt(index);
    if (key == 0) continue;
    keys.push_back(keys.size() == kMax ? "..." : absl::StrFormat("%#x", key));
  }
  return keys.empty() ? "none" : absl::StrJoin(keys, ", ");
}

}  // namespace

Hca::Hca(Subnet& subnet, Endpoints& endpoints, Timers& timers,
         QueuePairHistories& histories, AdapterFaults& faults,
         topology::NodeId node)
    : subnet_(subnet),
      endpoints_(endpoints),
      timers_(timers),
      histories_(histories),
      faults_(faults),
      id_(node),
      keys_(LimitsOf(subnet.node(node)).max_mr),
      looks_(size_t{subnet.node(node).port_count} + 1),
      kept_counters_(looks_.size()) {
  endpoints_.SetTransportSink(id_, this);
  for (int port = 1; port <= subnet.node(node).port_count; ++port) {
    OnPortChange(PortOf(port));
  }
}

Hca::~Hca() {
  if (!removed_) endpoints_.SetTransportSink(id_, nullptr);
}

verbs::DeviceAttributes Hca::QueryDevice() const {
  return HcaAttributesOf(node(), subnet_.port(PortOf(1)));
}

absl::StatusOr<verbs::PortAttributes> Hca::QueryPort(int port) const {
  if (!subnet_.has_port(node(), port)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %d: the device has ports 1 to %d", port, node().port_count));
  }
  return PortAttributesOf(node(), subnet_.port(PortOf(port)));
}

absl::Status Hca::CheckCall(uint64_t process, ResourceCall call) {
  return faults_.resources.Check(id_, process, call);
}

std::optional<std::string> Hca::NotReadyBy(const QueuePair& qp) {
  if (faults_.requests.empty()) return std::nullopt;
  return faults_.requests.NotReadyBy(id_, qp.process(), qp.number());
}

CompletionFate Hca::FateOf(const QueuePair& qp, WorkQueue queue) {
  if (faults_.requests.empty()) return {};
  return faults_.requests.FateOf(id_, qp.process(), qp.number(), queue);
}

absl::StatusOr<std::unique_ptr<verbs::Pd>> Hca::CreatePd(uint64_t process) {
  IBEMU_RETURN_IF_ERROR(CheckCall(process, ResourceCall::kAllocPd));
  if (pds_ >= static_cast<int>(QueryDevice().max_pd)) return NoMore("domains");
  return std::make_unique<Counted<ProtectionDomain>>(pds_, process);
}

absl::StatusOr<std::unique_ptr<verbs::Mr>> Hca::CreateMr(
    const verbs::MrInit& init) {
  IBEMU_RETURN_IF_ERROR(CheckCall(ProcessOf(*init.pd), ResourceCall::kRegMr));
  if (const uint64_t most = LimitsOf(node()).max_mr_size; init.length > most) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d bytes: a region has at most %d", init.length, most));
  }
  return verbs::MemoryRegion::Register(keys_, init);
}

absl::Duration Hca::TakeMrDelay(uint64_t process) {
  return faults_.resources.DelayOf(id_, process, ResourceCall::kRegMr);
}

absl::StatusOr<std::unique_ptr<verbs::Ah>> Hca::CreateAh(
    verbs::Pd& pd, const verbs::AddressAttributes& attributes) {
  IBEMU_RETURN_IF_ERROR(CheckCall(ProcessOf(pd), ResourceCall::kCreateAh));
  IBEMU_RETURN_IF_ERROR(
      verbs::CheckAddress(QueryDevice(), kGuidTableEntries, attributes));
  if (ahs_ >= static_cast<int>(QueryDevice().max_ah)) {
    return NoMore("address handles");
  }
  return std::make_unique<Counted<verbs::AddressHandle>>(ahs_, pd, attributes);
}

absl::StatusOr<std::unique_ptr<verbs::Cq>> Hca::CreateCq(
    uint32_t size, verbs::CqListener& listener) {
  IBEMU_RETURN_IF_ERROR(CheckCall(listener.process(), ResourceCall::kCreateCq));
  const verbs::DeviceAttributes device = QueryDevice();
  IBEMU_RETURN_IF_ERROR(verbs::CheckCqSize(device, size));
  if (cqs_ >= static_cast<int>(device.max_cq)) {
    return NoMore("completion queues");
  }
  return std::make_unique<Gated<CqEventGate, Counted<verbs::CompletionQueue>>>(
      Events(), listener.process(), listener, cqs_, size, device.max_cqe);
}

absl::StatusOr<std::unique_ptr<verbs::Srq>> Hca::CreateSrq(
    verbs::Pd& pd, const verbs::SrqAttributes& attributes,
    verbs::ObjectListener& listener) {
  IBEMU_RETURN_IF_ERROR(CheckCall(ProcessOf(pd), ResourceCall::kCreateSrq));
  const verbs::DeviceAttributes device = QueryDevice();
  IBEMU_RETURN_IF_ERROR(verbs::CheckSrq(device, attributes));
  if (srqs_ >= static_cast<int>(device.max_srq)) {
    return NoMore("shared receive queues");
  }
  return std::make_unique<Gated<EventGate, Counted<verbs::SharedReceiveQueue>>>(
      Events(), ProcessOf(pd), listener, srqs_, pd, attributes,
      device.max_srq_wr);
}

absl::StatusOr<std::unique_ptr<verbs::Qp>> Hca::CreateQp(
    const verbs::QpInit& init, verbs::ObjectListener& listener) {
  IBEMU_RETURN_IF_ERROR(
      CheckCall(ProcessOf(*init.pd), ResourceCall::kCreateQp));
  const verbs::DeviceAttributes device = QueryDevice();
  IBEMU_RETURN_IF_ERROR(
      verbs::CheckCapacity(device, init.capacity, kMaxInline));
  if (qps_.size() >= device.max_qp) return NoMore("queue pairs");
  do {
    last_qpn_ = last_qpn_ == kMulticastQpn - 1 ? 2 : last_qpn_ + 1;
  } while (qps_.contains(last_qpn_));
  auto qp = std::make_unique<QueuePair>(*this, last_qpn_, init, listener);
  qps_[last_qpn_] = qp.get();
  return qp;
}

void Hca::AddListener(verbs::AsyncEventListener& listener) {
  listeners_.Add(listener);
}

void Hca::RemoveListener(verbs::AsyncEventListener& listener) {
  listeners_.Remove(listener);
}

bool Hca::Owns(wire::Lid lid) const {
  return std::ranges::any_of(
      subnet_.PortsOf(node()),
      [lid](const NodePort& port) { return port.Owns(lid); });
}

uint32_t Hca::MtuCodeOf(int port) const {
  return subnet_.port(PortOf(std::max(port, 1))).info.neighbor_mtu;
}

void Hca::Transmit(int number, const verbs::AddressAttributes& to,
                   const QpAddress& queue_pairs,
                   std::shared_ptr<const Transport> transport) {
  const PortId id = PortOf(number);
  const NodePort& port = subnet_.port(id);
  Packet packet;
  packet.dlid = wire::Lid{to.dlid};
  packet.slid = wire::Lid(static_cast<unsigned>(port.info.lid) |
                          (to.src_path_bits & ((1u << port.info.lmc) - 1)));
  packet.sl = to.sl;
  packet.p_key = port.PKeyAt(queue_pairs.pkey_index);
  packet.source_qpn = queue_pairs.source_qpn;
  packet.destination_qpn = queue_pairs.destination_qpn;
  packet.q_key = queue_pairs.q_key;
  packet.migrated = queue_pairs.migrated;
  if (to.is_global != 0) {
    packet.grh = RouteHeader{.sgid = endpoints_.GidAt(id, to.grh.sgid_index),
                             .dgid = GidOf(to.grh.dgid),
                             .flow_label = to.grh.flow_label & 0xfffff,
                             .traffic_class = to.grh.traffic_class,
                             .hop_limit = to.grh.hop_limit};
  }
  packet.transport = std::move(transport);
  if (faults_.packets.empty()) return Send(id, packet);
  const uint64_t process = FindQueuePair(packet.source_qpn)->process();
  if (!faults_.packets.Concern(id_, process)) return Send(id, packet);
  faults_.packets.Pass(
      id, process, QueuePairDirection::kSent, packet,
      late_.Wrap([this, id](const Packet& one) { Send(id, one); }));
}

void Hca::Send(PortId port, const Packet& packet) {
  Forwarder& forwarder = endpoints_.forwarder();
  // Members on this adapter get their copy here, because a switch never sends a
  // packet back to where it came from (IBA vol 1 §10.5.2).  A limited member is
  // not one for itself, which is nobody's violation.
  if (FindGroup(packet) != nullptr &&
      subnet_.port(port).FindPKey(packet.p_key) >= 0) {
    forwarder.Send(Flight::Step::kLoop, port, packet);
  }
  forwarder.SendByAddress(port, packet);
}

absl::Status Hca::Attach(QueuePair& qp, const verbs::GidBytes& gid,
                         uint16_t lid) {
  const verbs::DeviceAttributes device = QueryDevice();
  const auto group = groups_.find({gid, lid});
  if (group == groups_.end()
          ? groups_.size() >= device.max_mcast_grp
          : group->second.size() >= device.max_mcast_qp_attach) {
    return NoMore("places in multicast groups");
  }
  groups_[{gid, lid}].push_back(&qp);
  return absl::OkStatus();
}

void Hca::Detach(QueuePair& qp, const verbs::GidBytes& gid, uint16_t lid) {
  const auto group = groups_.find({gid, lid});
  if (group == groups_.end()) return;
  std::erase(group->second, &qp);
  if (group->second.empty()) groups_.erase(group);
}

void Hca::Forget(QueuePair& qp) {
  histories_.End(id_, qp.number(), qp.history());
  qps_.erase(qp.number());
  for (auto& [address, members] : groups_) std::erase(members, &qp);
  std::erase_if(groups_,
                [](const auto& group) { return group.second.empty(); });
}

void Hca::OnBadPKey(const NodePort& port, const Packet& packet) {
  endpoints_.OnBadPKey(subnet_.id_of(port), packet);
}

void Hca::OnBadQKey(const NodePort& port, const Packet& packet) {
  endpoints_.OnBadQKey(subnet_.id_of(port), packet);
}

void Hca::OnTransport(PortId port, const Packet& packet) {
  if (endpoints_.AdmitByPKey(port, packet) < 0) {
    return NoteNotTaken(
        packet, absl::StrFormat("its P_Key is %#x: no entry of the port's "
                                "table matches: there is %s",
                                packet.p_key, PKeysText(subnet_.port(port))));
  }
  if (packet.grh && !endpoints_.IsForUs(port, *packet.grh)) {
    return NoteNotTaken(packet, absl::StrCat("it is for the GID ",
                                             wire::GidText(packet.grh->dgid),
                                             ", which the port has not"));
  }
  if (packet.destination_qpn == kMulticastQpn) {
    return DeliverToGroup(port, packet);
  }
  QueuePair* const qp = FindQueuePair(packet.destination_qpn);
  if (qp != nullptr) Deliver(*qp, port, packet);
}

void Hca::NoteNotTaken(const Packet& packet, absl::string_view why) {
  const auto found = qps_.find(packet.destination_qpn);
  if (found == qps_.end()) return;
  found->second->notes().NotTaken(*packet.transport, why);
}

std::shared_ptr<QueuePairHistory> Hca::BeginHistory(uint32_t qpn,
                                                    uint64_t process) {
  return histories_.Begin(id_, qpn, process);
}

void Hca::Deliver(QueuePair& qp, PortId port, const Packet& packet) {
  if (faults_.packets.Concern(id_, qp.process())) {
    return DeliverThroughFaults(qp, port, packet);
  }
  qp.OnPacket(subnet_.port(port), packet);
}

// The queue pair may have gone when a packet comes late.  A multicast packet
// concerns each member's own faults.
void Hca::DeliverThroughFaults(const QueuePair& qp, PortId port,
                               const Packet& packet) {
  const uint32_t qpn = qp.number();
  Packet own = packet;
  own.destination_qpn = qpn;
  faults_.packets.Pass(port, qp.process(), QueuePairDirection::kReceived, own,
                       late_.Wrap([this, qpn, port](const Packet& one) {
                         QueuePair* const now = FindQueuePair(qpn);
                         if (now != nullptr)
                           now->OnPacket(subnet_.port(port), one);
                       }));
}

std::vector<QueuePairStatus> Hca::QueuePairs() const {
  std::vector<QueuePairStatus> all;
  for (const auto& [number, qp] : qps_) all.push_back(qp->Status());
  std::sort(all.begin(), all.end(),
            [](const QueuePairStatus& a, const QueuePairStatus& b) {
              return a.number < b.number;
            });
  return all;
}

QueuePair* Hca::FindQueuePair(uint32_t number) const {
  const auto found = qps_.find(number);
  return found == qps_.end() ? nullptr : found->second;
}

void Hca::KeepCounters(int port, const verbs::HwCounters& counters) {
  verbs::AddCounters(counters, kept_counters_[static_cast<size_t>(port)]);
}

verbs::HwCounters Hca::CountersOf(int port) const {
  verbs::HwCounters sum = kept_counters_[static_cast<size_t>(port)];
  for (const auto& [number, qp] : qps_) {
    if (qp->port() == port) verbs::AddCounters(qp->counters(), sum);
  }
  return sum;
}

// Returns null if this is not a multicast packet, or if no queue pair here is
// attached to the group.
const std::vector<QueuePair*>* Hca::FindGroup(const Packet& packet) const {
  if (!wire::IsMulticast(packet.dlid) || !packet.grh) return nullptr;
  const auto group = groups_.find(
      {BytesOf(packet.grh->dgid), static_cast<uint16_t>(packet.dlid)});
  return group == groups_.end() ? nullptr : &group->second;
}

void Hca::DeliverToGroup(PortId port, const Packet& packet) {
  const std::vector<QueuePair*>* const members = FindGroup(packet);
  if (members == nullptr) return;
  for (QueuePair* const qp : std::vector<QueuePair*>(*members)) {
    Deliver(*qp, port, packet);
  }
}

Hca::PortLook Hca::LookAt(PortId id) const {
  const NodePort& port = subnet_.port(id);
  PortLook look = {.active = port.IsActive(),
                   .lid = port.info.lid,
                   .sm_lid = port.info.master_sm_lid,
                   .p_keys = {},
                   .gids = {}};
  for (int i = 0; i < node().p_key_entries(); ++i) {
    look.p_keys.push_back(port.PKeyAt(i));
  }
  for (int i = 0; i < kGuidTableEntries; ++i) {
    look.gids.push_back(endpoints_.GidAt(id, i));
  }
  return look;
}

// The adapter's faults take such an event as one, whoever hears of it; those of
// a process take its own.
void Hca::Tell(verbs::AsyncEventType type, int port) {
  using Listener = verbs::AsyncEventListener;
  const auto tell_if = [this, type, port](auto concerned) {
    listeners_.ForEach([&](Listener& listener) {
      if (concerned(listener)) listener.OnDeviceEvent(type, port);
    });
  };
  std::set<uint64_t> processes;
  listeners_.ForEach([&](const Listener& listener) {
    if (listener.IsOfProgram()) processes.insert(listener.process());
  });
  tell_if([](const Listener& listener) { return !listener.IsOfProgram(); });
  if (processes.empty()) return;
  const auto tell = [this, processes, tell_if] {
    for (const uint64_t process : processes) {
      Events().PassAt({FaultPlace::OfProcess(process)},
                      EventKind::kAsynchronous, late_, [tell_if, process] {
                        tell_if([process](const Listener& listener) {
                          return listener.IsOfProgram() &&
                                 listener.process() == process;
                        });
                      });
    }
  };
  Events().PassAt({FaultPlace::OfNode(id_)}, EventKind::kAsynchronous, late_,
                  tell);
}

void Hca::OnPortChange(PortId id) {
  using enum verbs::AsyncEventType;
  const int number = subnet_.port(id).number;
  const PortLook now = LookAt(id);
  const PortLook before =
      std::exchange(looks_[static_cast<size_t>(number)], now);
  if (before.active != now.active) {
    Tell(now.active ? kPortActive : kPortError, number);
  }
  if (before.lid != now.lid) Tell(kLidChange, number);
  if (before.sm_lid != now.sm_lid) Tell(kSmChange, number);
  if (before.p_keys != now.p_keys) Tell(kPKeyChange, number);
  if (before.gids != now.gids) Tell(kGidChange, number);
}

void Hca::OnClientReregister(PortId port) {
  Tell(verbs::AsyncEventType::kClientReregister, subnet_.port(port).number);
}

void Hca::Remove() {
  removed_ = true;
  late_.Invalidate();
  endpoints_.SetTransportSink(id_, nullptr);
  for (const auto& [number, qp] : qps_) qp->OnRemoval();
  Tell(verbs::AsyncEventType::kDeviceFatal, 0);
}

}  // namespace ibemu::fabric
