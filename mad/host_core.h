// What the dispatchers and agents of one host share.
#ifndef IBEMU_MAD_HOST_CORE_H_
#define IBEMU_MAD_HOST_CORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "mad/agent.h"

namespace ibemu::mad {

class AgentCore;

// The table of agents by the high half of their TIDs, and the queue of calls
// that must wait until the caller has returned.
class HostCore : public std::enable_shared_from_this<HostCore> {
 public:
  explicit HostCore(Timers& timers) : timers_(timers) {}

  Timers& timers() { return timers_; }

  // A high half for a new agent: counts up, also when the registration then
  // fails, and wraps at 24 bits (Linux's ib_mad_clients).
  uint32_t NextHighTid();

  void Enter(AgentCore& agent);
  void Leave(const AgentCore& agent);
  AgentCore* Find(uint32_t high_tid) const;

  bool removed() const { return removed_; }

  // The device is gone: every agent forgets what it waits for.
  void Remove();

  // Soon, and in this order, unless the agent is gone by then: the end of a
  // send, and a MAD that did not come through the wire.
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
  bool removed_ = false;
  std::vector<Later> deferred_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_HOST_CORE_H_
