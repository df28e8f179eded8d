// HostCore: the state that the dispatchers and agents of one host share.
#ifndef IBEMU_MAD_HOST_CORE_H_
#define IBEMU_MAD_HOST_CORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "mad/agent.h"
#include "mad/send_watcher.h"

namespace ibemu::mad {

class AgentCore;

// A HostCore holds the table of agents by the high half of their TIDs, and a
// queue of calls that must wait until the caller has returned.
class HostCore : public std::enable_shared_from_this<HostCore> {
 public:
  explicit HostCore(Timers& timers) : timers_(timers) {}

  Timers& timers() { return timers_; }

  void SetSendWatcher(SendWatcher* watcher) { send_watcher_ = watcher; }
  // Null if there is none.
  SendWatcher* send_watcher() const { return send_watcher_; }

  // Returns a high half of TIDs for a new agent.  Counts up even if the
  // registration then fails, and wraps at 24 bits (Linux's ib_mad_clients).
  uint32_t NextHighTid();

  void Enter(AgentCore& agent);
  void Leave(const AgentCore& agent);
  AgentCore* Find(uint32_t high_tid) const;

  bool removed() const { return removed_; }

  // Makes every agent forget what it waits for: the device is gone.
  void Remove();

  // Queue the end of a send, and a MAD that did not come through the wire.  The
  // calls are made soon, in the order in which they were queued, unless the
  // agent is gone by then.
  void SendDoneSoon(uint32_t high_tid, uint64_t cookie);
  void DeliverSoon(uint32_t high_tid, IncomingMessage message);

 private:
  struct Later {
    uint32_t high_tid = 0;
    uint64_t cookie = 0;
    std::unique_ptr<IncomingMessage> message;  // null: the send is done
  };

  void Defer(Later later);
  void RunDeferred();

  static constexpr uint32_t kLastHighTid = 0xffffff;

  Timers& timers_;
  absl::flat_hash_map<uint32_t, AgentCore*> agents_;
  uint32_t last_high_tid_ = 0;
  SendWatcher* send_watcher_ = nullptr;
  bool removed_ = false;
  std::vector<Later> deferred_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_HOST_CORE_H_
