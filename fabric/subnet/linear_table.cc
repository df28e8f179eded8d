#include "fabric/subnet/linear_table.h"

namespace ibemu::fabric {
namespace {

LinearTable::Block NoPorts() {
  LinearTable::Block block;
  block.fill(LinearTable::kNoPort);
  return block;
}

const LinearTable::Block kNoPorts = NoPorts();

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

}  // namespace ibemu::fabric
