#include "cm/connection_manager.h"

#include <utility>

#include "cm/manager_core.h"

namespace ibemu::cm {

struct ConnectionManager::Impl final : ManagerCore {
  using ManagerCore::ManagerCore;
};

ConnectionManager::ConnectionManager(Timers& timers,
                                     std::shared_ptr<mad::Host> host,
                                     Random random, uint8_t local_ca_ack_delay)
    : impl_(std::make_unique<Impl>(timers, std::move(host), random,
                                   local_ca_ack_delay)) {}

ConnectionManager::~ConnectionManager() = default;

std::unique_ptr<CmId> ConnectionManager::Create(CmIdOwner& owner) {
  return impl_->Create(&owner);
}

absl::StatusOr<std::unique_ptr<Listening>> ConnectionManager::Listen(
    uint64_t service_id, CmListener& listener) {
  return impl_->Listen(service_id, listener);
}

const CmCounters& ConnectionManager::counters(int port) const {
  return impl_->counters(port);
}

}  // namespace ibemu::cm
