// The forwarding tables of a switch, in blocks as SMPs set them.
#ifndef IBEMU_FABRIC_SUBNET_FORWARDING_TABLE_H_
#define IBEMU_FABRIC_SUBNET_FORWARDING_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wire/types.h"

namespace ibemu::fabric {

// LinearForwardingTable, IBA vol 1 §14.2.5.10: LID to port.  A block that was
// never set takes no memory.
class LinearTable {
 public:
  static constexpr int kBlockEntries = 64;
  static constexpr uint8_t kNoPort = 255;  // what an entry that drops holds
  using Block = std::array<uint8_t, kBlockEntries>;

  uint8_t Lookup(wire::Lid lid) const {
    const auto number = static_cast<uint16_t>(lid);
    const size_t block = number / kBlockEntries;
    if (block >= blocks_.size() || !blocks_[block]) return kNoPort;
    return (*blocks_[block])[number % kBlockEntries];
  }

  const Block& block(uint32_t index) const;
  void SetBlock(uint32_t index, const Block& entries);

  // For many entries in any order: the block stays where it is.
  Block& Edit(uint32_t index);

  // For one entry at a time.
  void Set(wire::Lid lid, uint8_t port);

 private:
  std::vector<std::unique_ptr<Block>> blocks_;
};

// MulticastForwardingTable, §14.2.5.12: multicast LID to a set of ports.
class MulticastTable {
 public:
  static constexpr int kBlockEntries = 32;  // LIDs in one SMP
  static constexpr int kPortsPerMask = 16;  // ports in one SMP: a "position"
  static constexpr int kPositions = 16;     // 0 to 15
  using Block = std::array<uint16_t, kBlockEntries>;

  // True if a packet to `lid` leaves by `port`.
  bool Contains(wire::Lid lid, int port) const;

  // Block `index` counts from LID 0xc000 in steps of 32, `position` gives the
  // ports: 16 * position is bit 0.  Requires position < kPositions.
  const Block& block(uint32_t index, int position) const;
  void SetBlock(uint32_t index, int position, const Block& masks);

  // For one port at a time; prefer SetBlock.
  void Set(wire::Lid lid, int port, bool member);

 private:
  Block& Own(uint32_t index, int position);

  std::array<std::vector<std::unique_ptr<Block>>, kPositions> blocks_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_FORWARDING_TABLE_H_
