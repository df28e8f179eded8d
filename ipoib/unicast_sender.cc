#include "ipoib/unicast_sender.h"

#include "ipoib/address_attributes.h"
#include "ipoib/path_question.h"

namespace ibemu::ipoib {
UnicastSender::UnicastSender(mad::SaClient& sa, int port, Transmit transmit)
    : sa_(sa), port_(port), transmit_(std::move(transmit)) {}

void UnicastSender::Send(const wire::Gid& source, uint16_t pkey,
                         const HardwareAddress& to,
                         std::vector<std::byte> packet) {
  const Key key{to.gid.prefix, to.gid.interface_id};
  if (!paths_.contains(key) && !MakeRoom()) return;
  Path& path = paths_[key];
  if (path.address) return transmit_(*path.address, to.qpn, packet);
  if (path.waiting.size() < kMaxWaiting) {
    path.waiting.push_back({.qpn = to.qpn, .packet = std::move(packet)});
  }
  if (path.query != nullptr) return;
  path.query =
      sa_.GetPath(PathQuestion(source, pkey, to.gid), kPathMask, kPathRetry,
                  [this, key](const absl::StatusOr<mad::PathRecord>& record) {
                    OnPath(key, record);
                  });
}

// Returns true if there may be one more path.
bool UnicastSender::MakeRoom() {
  if (paths_.size() < kMaxPaths) return true;
  std::erase_if(paths_, [](const auto& entry) {
    return entry.second.address.has_value();
  });
  return paths_.size() < kMaxPaths;
}

void UnicastSender::OnPath(const Key& key,
                           const absl::StatusOr<mad::PathRecord>& record) {
  const auto found = paths_.find(key);
  if (!record.ok()) {  // the next packet asks again
    paths_.erase(found);
    return;
  }
  Path& path = found->second;
  path.query.reset();
  path.address = AddressBy(*record, port_);
  for (const Waiting& waiting : std::exchange(path.waiting, {})) {
    transmit_(*path.address, waiting.qpn, waiting.packet);
  }
}

}  // namespace ibemu::ipoib
