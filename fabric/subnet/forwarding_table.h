// LinearTable and MulticastTable: the forwarding tables of a switch, in the
// blocks that SMPs set.
#ifndef IBEMU_FABRIC_SUBNET_FORWARDING_TABLE_H_
#define IBEMU_FABRIC_SUBNET_FORWARDING_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wire/types.h"

namespace ibemu::fabric {

// The LinearForwardingTable (IBA vol 1 §14.2.5.10): it maps a LID to a port.  A
// block that was never set takes no memory.
class LinearTable {
 public:
  static constexpr int kBlockEntries = 64;
  static constexpr uint8_t kNoPort = 255;  // the value of entries that drop
  using Block = std::array<uint8_t, kBlockEntries>;

  uint8_t Lookup(wire::Lid lid) const {
    const auto number = static_cast<uint16_t>(lid);
    const size_t block = number / kBlockEntries;
    if (block >= blocks_.size() || !blocks_[block]) return kNoPort;
    return (*blocks_[block])[number % kBlockEntries];
  }

  const Block& block(uint32_t index) const;
  void SetBlock(uint32_t index, const Block& entries);

  // Returns a block to be changed in place, for many entries in any order.  The
  // reference stays valid.
  Block& Edit(uint32_t index);

  // Sets a single entry.
  void Set(wire::Lid lid, uint8_t port);

 private:
  std::vector<std::unique_ptr<Block>> blocks_;
};

// The MulticastForwardingTable (IBA vol 1 §14.2.5.12): it maps a multicast LID
// to a set of ports.
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

#endif  // IBEMU_FABRIC_SUBNET_FORWARDING_TABLE_H_
