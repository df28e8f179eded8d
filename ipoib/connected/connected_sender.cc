#include "ipoib/connected/connected_sender.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "ipoib/connected/rc_connection.h"
#include "ipoib/path_question.h"

namespace ibemu::ipoib {

ConnectedSender::ConnectedSender(mad::SaClient& sa, cm::ConnectionManager& cm,
                                 ConnectedQueue& queue, Random random,
                                 TooLong too_long)
    : sa_(sa),
      cm_(cm),
      queue_(queue),
      random_(random),
      too_long_(std::move(too_long)) {}

void ConnectedSender::Send(const Source& from, const HardwareAddress& to,
                           Datagram datagram) {
  const Key key{to.gid.prefix, to.gid.interface_id, to.qpn};
  if (const auto known = neighbors_.find(key); known != neighbors_.end()) {
    Neighbor& neighbor = known->second;
    neighbor.used = ++sent_;
    if (neighbor.longest != 0) return Transmit(neighbor, datagram);
    return Wait(neighbor, std::move(datagram));
  }
  MakeRoom();
  Neighbor& neighbor = neighbors_[key];
  neighbor.used = ++sent_;
  Wait(neighbor, std::move(datagram));
  neighbor.query = sa_.GetPath(
      PathQuestion(from.gid, from.pkey, to.gid), kPathMask, kPathRetry,
      [this, key, from](const absl::StatusOr<mad::PathRecord>& path) {
        if (!Connect(key, from, path).ok()) Drop(neighbors_.find(key));
      });
}

absl::Status ConnectedSender::Connect(
    const Key& key, const Source& from,
    const absl::StatusOr<mad::PathRecord>& path) {
  IBEMU_RETURN_IF_ERROR(path.status());
  Neighbor& neighbor = neighbors_.at(key);
  neighbor.query.reset();
  IBEMU_ASSIGN_OR_RETURN(neighbor.qp, queue_.CreateQp());
  neighbor.id = cm_.Create(*this);
  neighbor.psn = FirstPsn(random_);
  return neighbor.id->SendReq(
      {.path = *path,
       .service_id = ConnectionService(std::get<uint32_t>(key)),
       .qpn = neighbor.qp->number(),
       .starting_psn = neighbor.psn,
       .retry_count = kRetries,
       .rnr_retry_count = kRnrRetries,
       .srq = true,
       .private_data = EncodeConnectionData(from.qpn)});
}

absl::Status ConnectedSender::Finish(Neighbor& neighbor,
                                     const cm::CmEvent& reply) {
  IBEMU_ASSIGN_OR_RETURN(const size_t longest,
                         LongestMessage(reply.private_data));
  IBEMU_RETURN_IF_ERROR(BringUp(*neighbor.id, neighbor.psn, *neighbor.qp));
  IBEMU_RETURN_IF_ERROR(neighbor.id->SendRtu({}));
  neighbor.longest = longest;
  for (const Datagram& datagram : std::exchange(neighbor.waiting, {})) {
    Transmit(neighbor, datagram);
  }
  return absl::OkStatus();
}

void ConnectedSender::Transmit(Neighbor& neighbor, const Datagram& datagram) {
  if (datagram.size() > neighbor.longest) {
    return too_long_(datagram, neighbor.longest);
  }
  queue_.Send(*neighbor.qp, datagram);
}

void ConnectedSender::OnCmEvent(cm::CmId& id, const cm::CmEvent& event) {
  const Place place = Find(
      [&id](const Neighbor& neighbor) { return neighbor.id.get() == &id; });
  const bool connects = event.kind == cm::CmEvent::Kind::kRep &&
                        Finish(place->second, event).ok();
  if (!connects) Drop(place);
}

void ConnectedSender::OnBroken(uint32_t qpn) {
  Drop(Find([qpn](const Neighbor& neighbor) {
    return neighbor.qp != nullptr && neighbor.qp->number() == qpn;
  }));
}

template <class Has>
ConnectedSender::Place ConnectedSender::Find(Has&& has) {
  return std::ranges::find_if(
      neighbors_, [&has](const auto& entry) { return has(entry.second); });
}

void ConnectedSender::MakeRoom() {
  if (neighbors_.size() < kMaxNeighbors) return;
  Drop(std::ranges::min_element(
      neighbors_, {}, [](const auto& entry) { return entry.second.used; }));
}

void ConnectedSender::Drop(Place place) {
  if (place == neighbors_.end()) return;
  // It is no neighbour any more when its id tells the peer.
  const Neighbor gone = std::move(place->second);
  neighbors_.erase(place);
}

void ConnectedSender::Wait(Neighbor& neighbor, Datagram datagram) {
  size_t all = 0;
  for (const auto& [key, each] : neighbors_) all += each.waiting.size();
  if (neighbor.waiting.size() >= kMaxWaiting || all >= kMaxWaitingAll) return;
  neighbor.waiting.push_back(std::move(datagram));
}

void ConnectedSender::Forget() {
  while (!neighbors_.empty()) Drop(neighbors_.begin());
}

}  // namespace ibemu::ipoib
