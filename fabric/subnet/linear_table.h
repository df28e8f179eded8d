// LinearTable: a switch's forwarding table, in the blocks that SMPs set.
#ifndef IBEMU_FABRIC_SUBNET_LINEAR_TABLE_H_
#define IBEMU_FABRIC_SUBNET_LINEAR_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "wire/types.h"

namespace ibemu::fabric {

// A LinearTable is a LinearForwardingTable (IBA vol 1 §14.2.5.10): it maps a
// LID to a port.  A block that was never set takes no memory.
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

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_LINEAR_TABLE_H_
