// The versions of what a node link says, for machines that have different ones
// of us.
#ifndef IBEMU_PEERS_NODE_LINK_VERSIONS_H_
#define IBEMU_PEERS_NODE_LINK_VERSIONS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace ibemu::peers {

// The versions that one machine speaks: all from the oldest to the newest.
struct NodeLinkVersions {
  uint32_t oldest, newest;

  bool Has(uint32_t version) const {
    return oldest <= version && version <= newest;
  }
  // "5 to 7".
  std::string Text() const {
    return oldest == newest ? absl::StrCat(newest)
                            : absl::StrCat(oldest, " to ", newest);
  }
};

// Ours of daemon/remote_node/format/node_link_format.h, whose every change
// counts.
inline constexpr NodeLinkVersions kNodeLinkVersions = {.oldest = 6,
                                                       .newest = 6};

// Returns the newest version that both speak, or nullopt.
inline std::optional<uint32_t> CommonVersion(const NodeLinkVersions& ours,
                                             const NodeLinkVersions& theirs) {
  const uint32_t newest = std::min(ours.newest, theirs.newest);
  if (!ours.Has(newest) || !theirs.Has(newest)) return std::nullopt;
  return newest;
}

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_NODE_LINK_VERSIONS_H_
