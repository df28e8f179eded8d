#include "rdma_cm/host/port_table.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ibemu::rdma_cm {
namespace {

using PortKey = std::pair<PortSpace, uint16_t>;

PortKey KeyOf(const PortClaim& claim) {
  return {claim.space, claim.address.port()};
}

}  // namespace

struct PortTable::State {
  std::map<PortKey, std::vector<const Place*>> places;
};

PortTable::Place::Place(const std::shared_ptr<State>& state,
                        const PortClaim& claim)
    : state_(state), key_(KeyOf(claim)), claim_(claim) {
  state->places[key_].push_back(this);
}

PortTable::Place::~Place() {
  const std::shared_ptr<State> state = state_.lock();
  if (state == nullptr) return;
  const auto port = state->places.find(key_);
  std::erase(port->second, this);
  if (port->second.empty()) state->places.erase(port);
}

PortTable::PortTable() : state_(std::make_shared<State>()) {}
PortTable::~PortTable() = default;

Refusal PortTable::Check(const PortClaim& claim, const Place* own) const {
  const auto port = state_->places.find(KeyOf(claim));
  if (port == state_->places.end()) return Refusal::kNone;
  for (const Place* const place : port->second) {
    const PortClaim& other = place->claim();
    if (place == own || (claim.reuse_address && other.reuse_address)) continue;
    if (claim.only_family && other.only_family &&
        claim.address.family != other.address.family) {
      continue;
    }
    if (claim.address.IsWildcard() || other.address.IsWildcard()) {
      return Refusal::kNoSuchAddress;
    }
    if (claim.address.IsSameHost(other.address)) return Refusal::kAddressInUse;
  }
  return Refusal::kNone;
}

bool PortTable::MayGive(const PortClaim& claim) const {
  const auto port = state_->places.find(KeyOf(claim));
  return port == state_->places.end() ||
         std::ranges::all_of(port->second, [&claim](const Place* place) {
           const SocketAddress& other = place->claim().address;
           return !claim.address.IsWildcard() && !other.IsWildcard() &&
                  !claim.address.IsSameHost(other);
         });
}

std::unique_ptr<PortTable::Place> PortTable::Add(const PortClaim& claim) {
  return std::make_unique<Place>(state_, claim);
}

}  // namespace ibemu::rdma_cm
