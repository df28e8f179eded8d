// MulticastTable: a switch's forwarding table of multicast, in the blocks that
// SMPs set.
#ifndef IBEMU_FABRIC_SUBNET_MULTICAST_TABLE_H_
#define IBEMU_FABRIC_SUBNET_MULTICAST_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "wire/types.h"

namespace ibemu::fabric {

// A MulticastTable is a MulticastForwardingTable (IBA vol 1 §14.2.5.12): it
// maps a multicast LID to a set of ports.
class MulticastTable {
 public:
  static constexpr int kBlockEntries = 32;  // LIDs in one SMP
  static constexpr int kPortsPerMask = 16;  // ports in one SMP: a "position"
  static constexpr int kPositions = 16;     // 0 to 15
  using Block = std::array<uint16_t, kBlockEntries>;

  // Returns true if a packet to `lid` leaves through `port`.
  bool Contains(wire::Lid lid, int port) const;

  // Block `index` starts at LID 0xc000 + 32 * index.  In its masks, bit 0
  // stands for port 16 * position.  REQUIRES: position < kPositions.
  const Block& block(uint32_t index, int position) const;
  void SetBlock(uint32_t index, int position, const Block& masks);

  // Sets or clears a single port of a LID.  SetBlock() is preferable.
  void Set(wire::Lid lid, int port, bool member);

 private:
  Block& Own(uint32_t index, int position);

  std::array<std::vector<std::unique_ptr<Block>>, kPositions> blocks_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_MULTICAST_TABLE_H_
