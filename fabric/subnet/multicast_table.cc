#include "fabric/subnet/multicast_table.h"

#include <cassert>

namespace ibemu::fabric {
namespace {

constexpr MulticastTable::Block kNoMembers{};

uint32_t MulticastIndex(wire::Lid lid) {
  return static_cast<uint32_t>(lid) -
         static_cast<uint32_t>(wire::Lid::kFirstMulticast);
}

}  // namespace

bool MulticastTable::Contains(wire::Lid lid, int port) const {
  const uint32_t index = MulticastIndex(lid);
  const Block& masks = block(index / kBlockEntries, port / kPortsPerMask);
  return (masks[index % kBlockEntries] >> (port % kPortsPerMask) & 1) != 0;
}

const MulticastTable::Block& MulticastTable::block(uint32_t index,
                                                   int position) const {
  assert(position >= 0 && position < kPositions);
  const auto& blocks = blocks_[static_cast<size_t>(position)];
  if (index >= blocks.size() || !blocks[index]) return kNoMembers;
  return *blocks[index];
}

void MulticastTable::SetBlock(uint32_t index, int position,
                              const Block& masks) {
  Own(index, position) = masks;
}

void MulticastTable::Set(wire::Lid lid, int port, bool member) {
  const uint32_t index = MulticastIndex(lid);
  uint16_t& mask =
      Own(index / kBlockEntries, port / kPortsPerMask)[index % kBlockEntries];
  const auto bit = static_cast<uint16_t>(1u << (port % kPortsPerMask));
  mask = static_cast<uint16_t>(member ? mask | bit : mask & ~bit);
}

MulticastTable::Block& MulticastTable::Own(uint32_t index, int position) {
  assert(position >= 0 && position < kPositions);
  auto& blocks = blocks_[static_cast<size_t>(position)];
  if (index >= blocks.size()) blocks.resize(index + 1);
  if (!blocks[index]) blocks[index] = std::make_unique<Block>(kNoMembers);
  return *blocks[index];
}

}  // namespace ibemu::fabric
