// Hca: the software channel adapter, which gives verbs to a node of the fabric.
#ifndef IBEMU_FABRIC_SOFT_HCA_HCA_H_
#define IBEMU_FABRIC_SOFT_HCA_HCA_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/forwarding/endpoints.h"
#include "fabric/history/queue_pair_histories.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/adapter_faults.h"
#include "fabric/soft_hca/event_gate.h"
#include "fabric/soft_hca/queue_pair_status.h"
#include "fabric/soft_hca/transport/atomic_unit.h"
#include "fabric/soft_hca/transport/call_guard.h"
#include "fabric/subnet/subnet.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/parts/key_table.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

class QueuePair;

// The queue pair addresses of a packet: sender, destination and keys.
struct QpAddress {
  uint16_t pkey_index = 0;
  uint32_t source_qpn = 0, destination_qpn = 0;
  uint32_t q_key = 0;    // datagrams only
  bool migrated = true;  // connections only, see Packet::migrated
};

// The provider of verbs.  It has queue pairs by number, memory by key, and
// multicast groups.  Its packets travel over the links as MADs do.
class Hca final : public verbs::Provider, private TransportSink {
 public:
  // REQUIRES: `node` is a channel adapter of `subnet`.  All arguments must
  // outlive this object.
  Hca(Subnet& subnet, Endpoints& endpoints, Timers& timers,
      QueuePairHistories& histories, AdapterFaults& faults,
      topology::NodeId node);
  ~Hca() override;
  Hca(const Hca&) = delete;
  Hca& operator=(const Hca&) = delete;

  verbs::DeviceAttributes QueryDevice() const override;
  absl::StatusOr<verbs::PortAttributes> QueryPort(int port) const override;
  absl::StatusOr<std::unique_ptr<verbs::Pd>> CreatePd(
      uint64_t process) override;
  absl::StatusOr<std::unique_ptr<verbs::Mr>> CreateMr(
      const verbs::MrInit& init) override;
  absl::Duration TakeMrDelay(uint64_t process) override;
  absl::StatusOr<std::unique_ptr<verbs::Ah>> CreateAh(
      verbs::Pd& pd, const verbs::AddressAttributes& attributes) override;
  absl::StatusOr<std::unique_ptr<verbs::Cq>> CreateCq(
      uint32_t size, verbs::CqListener& listener) override;
  absl::StatusOr<std::unique_ptr<verbs::Srq>> CreateSrq(
      verbs::Pd& pd, const verbs::SrqAttributes& attributes,
      verbs::ObjectListener& listener) override;
  absl::StatusOr<std::unique_ptr<verbs::Qp>> CreateQp(
      const verbs::QpInit& init, verbs::ObjectListener& listener) override;
  void AddListener(verbs::AsyncEventListener& listener) override;
  void RemoveListener(verbs::AsyncEventListener& listener) override;

  // The interface for this adapter's queue pairs.
  Timers& timers() { return timers_; }
  const verbs::KeyTable& keys() const { return keys_; }
  verbs::BounceBuffers& bounces() { return bounces_; }
  AtomicUnit& atomics() { return atomics_; }
  uint32_t MtuCodeOf(int port) const;
  // Whether `lid` is one of a port's.
  bool Owns(wire::Lid lid) const;
  void Transmit(int port, const verbs::AddressAttributes& to,
                const QpAddress& queue_pairs,
                std::shared_ptr<const Transport> transport);
  absl::Status Attach(QueuePair& qp, const verbs::GidBytes& gid, uint16_t lid);
  void Detach(QueuePair& qp, const verbs::GidBytes& gid, uint16_t lid);
  std::shared_ptr<QueuePairHistory> BeginHistory(uint32_t qpn,
                                                 uint64_t process);
  void Forget(QueuePair& qp);
  void OnBadPKey(const NodePort& port, const Packet& packet);
  void OnBadQKey(const NodePort& port, const Packet& packet);
  // The faults of its queue pairs' requests.
  std::optional<std::string> NotReadyBy(const QueuePair& qp);
  CompletionFate FateOf(const QueuePair& qp, WorkQueue queue);
  // Returns the way of this adapter's events to programs.
  EventPath Events() {
    return {.faults = faults_.events, .timers = timers_, .node = id_};
  }
  // Adds what a queue pair counted at `port` to what is kept of others.
  void KeepCounters(int port, const verbs::HwCounters& counters);

  // Returns what is to be told of the queue pairs, by number.
  std::vector<QueuePairStatus> QueuePairs() const;
  // Returns null if there is no such queue pair.
  QueuePair* FindQueuePair(uint32_t number) const;
  // Returns what all queue pairs of a port have counted, those that have ended
  // included.
  verbs::HwCounters CountersOf(int port) const;
  // Tells programs of an event that has no cause.
  void Raise(verbs::AsyncEventType type, int port) { Tell(type, port); }

  // The state, the LID or a table of a port changed.
  void OnPortChange(PortId port);
  void OnClientReregister(PortId port);

  // The adapter is pulled out: its queue pairs enter the error state, and its
  // listeners are told of that and of nothing after it.
  void Remove();
  bool InUse() const { return !listeners_.empty(); }

 private:
  // The properties of a port whose changes are reported to programs.
  struct PortLook {
    bool active = false;
    wire::Lid lid{}, sm_lid{};
    std::vector<uint16_t> p_keys;
    std::vector<wire::Gid> gids;
  };
  PortLook LookAt(PortId port) const;
  void Tell(verbs::AsyncEventType type, int port);

  void Send(PortId port, const Packet& packet);
  void OnTransport(PortId port, const Packet& packet) override;
  void NoteNotTaken(const Packet& packet, absl::string_view why);
  absl::Status CheckCall(uint64_t process, ResourceCall call);
  void Deliver(QueuePair& qp, PortId port, const Packet& packet);
  void DeliverThroughFaults(const QueuePair& qp, PortId port,
                            const Packet& packet);
  const std::vector<QueuePair*>* FindGroup(const Packet& packet) const;
  void DeliverToGroup(PortId port, const Packet& packet);
  const Node& node() const { return subnet_.node(id_); }
  PortId PortOf(int number) const { return subnet_.port_id(node(), number); }

  Subnet& subnet_;
  Endpoints& endpoints_;
  Timers& timers_;
  QueuePairHistories& histories_;
  AdapterFaults& faults_;
  const topology::NodeId id_;
  bool removed_ = false;
  verbs::KeyTable keys_;
  verbs::BounceBuffers bounces_;
  AtomicUnit atomics_;
  int pds_ = 0, ahs_ = 0, cqs_ = 0, srqs_ = 0;
  uint32_t last_qpn_ = 1;  // 0 and 1 are the special queue pairs
  absl::flat_hash_map<uint32_t, QueuePair*> qps_;
  std::map<std::pair<verbs::GidBytes, uint16_t>, std::vector<QueuePair*>>
      groups_;
  std::vector<PortLook> looks_;                   // by port number
  std::vector<verbs::HwCounters> kept_counters_;  // by port number
  CallGuard late_;  // of packets and events that a fault has delayed
  ObserverList<verbs::AsyncEventListener> listeners_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_HCA_H_
