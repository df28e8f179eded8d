// ManagerCore: the implementation of ConnectionManager.
#ifndef IBEMU_CM_MANAGER_CORE_H_
#define IBEMU_CM_MANAGER_CORE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/timers.h"
#include "cm/cm_id_core.h"
#include "cm/cm_port.h"
#include "cm/connection_manager.h"
#include "cm/peer_table.h"
#include "cm/route.h"
#include "cm/sending.h"
#include "mad/host.h"
#include "wire/types.h"

namespace ibemu::cm {

// A ManagerCore finds for each message the communication ID that it is for:
// cm_*_handler() of drivers/infiniband/core/cm.c.
//
// An entry in TIMEWAIT that outlives its CmId would be seen by nobody, as on
// Linux: peers are forgotten when TIMEWAIT begins, and to a DREQ for an unknown
// connection goes a DREP anyway.  So there are none.
class ManagerCore : private CmPort::Receiver {
 public:
  ManagerCore(Timers& timers, std::shared_ptr<mad::Host> host, Random random,
              uint8_t local_ca_ack_delay);
  ManagerCore(const ManagerCore&) = delete;
  ManagerCore& operator=(const ManagerCore&) = delete;

  std::unique_ptr<CmIdCore> Create(CmIdOwner* owner);
  absl::StatusOr<std::unique_ptr<Listening>> Listen(uint64_t service_id,
                                                    CmListener& listener);
  const CmCounters& counters(int port) const;

  // The rest is for CmIdCore.
  Timers& timers() { return timers_; }
  void Enter(CmIdCore& id) { ids_[id.comm_id()] = &id; }
  void Leave(CmIdCore& id) { ids_.erase(id.comm_id()); }

  PeerTable& peers() { return peers_; }

  // Errors: Unavailable, the device is gone.
  absl::Status CheckPresent() const;

  // Errors: those of RouteOf() and CheckPresent(); Unavailable, the port sends
  // no CM messages.
  absl::StatusOr<Route> RouteTo(const mad::PathRecord& path) const;

  void Send(const Sending& sending, const Route& route);

 private:
  class ListeningCore;

  void OnCmMad(CmPort& port, Message which,
               const mad::IncomingMessage& mad) override;
  void OnReq(CmPort& port, const mad::IncomingMessage& mad);
  void OnRep(CmPort& port, const mad::IncomingMessage& mad);
  void OnRej(CmPort& port, const mad::IncomingMessage& mad);
  void OnMra(CmPort& port, const mad::IncomingMessage& mad);
  void OnRtu(CmPort& port, const mad::IncomingMessage& mad);
  void OnDreq(CmPort& port, const mad::IncomingMessage& mad);
  void OnDrep(CmPort& port, const mad::IncomingMessage& mad);
  void OnSidrReq(CmPort& port, const mad::IncomingMessage& mad);
  void OnSidrRep(CmPort& port, const mad::IncomingMessage& mad);

  // Answers a REQ or REP that leads to no connection here: cm_issue_rej().
  static void Reject(CmPort& port, const mad::IncomingMessage& mad,
                     const Rej& rej);

  // Returns the id with both numbers, or null.  `remote` 0: its peer is not
  // known yet.
  CmIdCore* Find(uint32_t local, uint32_t remote) const;
  CmPort& port(int number) const;
  uint32_t NewCommId();

  Timers& timers_;
  const std::shared_ptr<mad::Host> host_;
  const uint8_t ca_ack_delay_;
  const uint32_t comm_id_mask_;  // makes the numbers differ between managers
  uint32_t last_comm_id_ = 0;
  std::vector<std::unique_ptr<CmPort>> ports_;
  absl::flat_hash_map<uint32_t, CmIdCore*> ids_;
  PeerTable peers_;
  absl::flat_hash_map<uint64_t, CmListener*> listeners_;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_MANAGER_CORE_H_
