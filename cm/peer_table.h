// PeerTable: the communication IDs of a host by what their peers call them.
#ifndef IBEMU_CM_PEER_TABLE_H_
#define IBEMU_CM_PEER_TABLE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cm/peer.h"
#include "wire/types.h"

namespace ibemu::cm {

class CmIdCore;

// A PeerTable finds duplicates and stale connections: remote_id_table,
// remote_qp_table and remote_sidr_table of Linux's ib_cm.
class PeerTable {
 public:
  // What the table has of one CmIdCore.
  struct Entry {
    std::optional<Peer> peer{};
    std::optional<Asker> asker{};
    bool operator==(const Entry&) const = default;
  };

  // Return null if there is none.
  CmIdCore* WithCommId(wire::Guid ca, uint32_t comm_id) const {
    return Find(by_comm_id_, {ca, comm_id});
  }
  CmIdCore* WithQpn(wire::Guid ca, uint32_t qpn) const {
    return Find(by_qpn_, {ca, qpn});
  }
  CmIdCore* WithAsker(const Asker& asker) const {
    return Find(by_asker_, {asker.lid, asker.request_id});
  }

  // Makes what the table has of `id` be `wanted` instead of `entry`, which then
  // says so.  Nobody else may have it.
  void Update(CmIdCore& id, Entry& entry, const Entry& wanted) {
    if (entry == wanted) return;
    if (entry.peer) {
      by_comm_id_.erase({entry.peer->ca, entry.peer->comm_id});
      by_qpn_.erase({entry.peer->ca, entry.peer->qpn});
    }
    if (entry.asker) {
      by_asker_.erase({entry.asker->lid, entry.asker->request_id});
    }
    entry = wanted;
    if (entry.peer) {
      by_comm_id_[{entry.peer->ca, entry.peer->comm_id}] = &id;
      by_qpn_[{entry.peer->ca, entry.peer->qpn}] = &id;
    }
    if (entry.asker) {
      by_asker_[{entry.asker->lid, entry.asker->request_id}] = &id;
    }
  }

 private:
  template <class Place>
  using Map = absl::flat_hash_map<std::pair<Place, uint32_t>, CmIdCore*>;

  template <class Place>
  static CmIdCore* Find(const Map<Place>& map,
                        const std::pair<Place, uint32_t>& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : found->second;
  }

  Map<wire::Guid> by_comm_id_;
  Map<wire::Guid> by_qpn_;
  Map<wire::Lid> by_asker_;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_PEER_TABLE_H_
