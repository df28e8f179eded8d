#include "fabric/subnet/forwarding_table.h"

#include <cassert>

namespace ibemu::fabric {
namespace {

LinearTable::Block NoPorts() {
  LinearTable::Block block;
  block.fill(LinearTable::kNoPort);
  return block;
}

const LinearTable::Block kNoPorts = NoPorts();
constexpr MulticastTable::Block kNoMembers{};

uint32_t MulticastIndex(wire::Lid lid) {
  return static_cast<uint32_t>(lid) -
         static_cast<uint32_t>(wire::Lid::kFirstMulticast);
}

}  // namespace

const LinearTable::Block& LinearTable::block(uint32_t index) const {
  if (index >= blocks_.size() || !blocks_[index]) return kNoPorts;
  return *blocks_[index];
}

void LinearTable::SetBlock(uint32_t index, const Block& entries) {
  Edit(index) = entries;
}

void LinearTable::Set(wire::Lid lid, uint8_t port) {
  const auto number = static_cast<uint16_t>(lid);
  Edit(number / kBlockEntries)[number % kBlockEntries] = port;
}

LinearTable::Block& LinearTable::Edit(uint32_t index) {
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  if (!blocks_[index]) blocks_[index] = std::make_unique<Block>(kNoPorts);
  return *blocks_[index];
}

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
