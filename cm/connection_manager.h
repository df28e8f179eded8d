// ConnectionManager: the InfiniBand communication manager of one host.
#ifndef IBEMU_CM_CONNECTION_MANAGER_H_
#define IBEMU_CM_CONNECTION_MANAGER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/timers.h"
#include "cm/cm_id.h"
#include "mad/host.h"

namespace ibemu::cm {

// A CmListener listens for a service ID.
class CmListener {
 public:
  // A request came for `arrived.service_id`.  The id is the listener's from now
  // on; if it destroys it in the call, a REJ 28 (SIDR_REP 2) goes out, unless
  // it has called Ignore() before.
  virtual void OnRequest(std::unique_ptr<CmId> id, const Arrived& arrived) = 0;

 protected:
  ~CmListener() = default;
};

// A Listening ends when it is destroyed.
class Listening {
 public:
  virtual ~Listening() = default;
};

// The counters of a port in sysfs: cm_tx_msgs, cm_tx_retries, cm_rx_msgs,
// cm_rx_duplicates, each by message (REQ, MRA, REJ, REP, RTU, DREQ, DREP,
// SIDR_REQ, SIDR_REP, LAP, APR).
struct CmCounters {
  static constexpr int kMessages = 11;
  uint64_t tx_msgs[kMessages] = {};
  uint64_t tx_retries[kMessages] = {};
  uint64_t rx_msgs[kMessages] = {};
  uint64_t rx_duplicates[kMessages] = {};
};

// A ConnectionManager is ib_cm of one mad::Host: an agent on QP1 of each port,
// communication IDs, listeners, connections in TIMEWAIT.
class ConnectionManager {
 public:
  // Both references must outlive this, and this all ids and listenings.
  ConnectionManager(Timers& timers, std::shared_ptr<mad::Host> host,
                    Random random, uint8_t local_ca_ack_delay);
  ~ConnectionManager();

  std::unique_ptr<CmId> Create(CmIdOwner& owner);

  // Errors: AlreadyExists, somebody listens for it.
  absl::StatusOr<std::unique_ptr<Listening>> Listen(uint64_t service_id,
                                                    CmListener& listener);

  const CmCounters& counters(int port) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_CONNECTION_MANAGER_H_
