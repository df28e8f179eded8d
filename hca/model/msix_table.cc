#include "hca/model/msix_table.h"

#include <utility>

namespace ibemu::hca::model {

MsixTable::MsixTable(int vectors, Send send)
    : entries_(static_cast<size_t>(vectors)), send_(std::move(send)) {}

void MsixTable::Signal(int vector) {
  if (!enabled_) return;
  Entry& entry = entries_[static_cast<size_t>(vector)];
  if (Masked(entry)) {
    entry.pending = true;
    return;
  }
  send_(entry.address, entry.data);
}

void MsixTable::SetControl(bool enabled, bool all_masked) {
  enabled_ = enabled;
  all_masked_ = all_masked;
  if (!enabled_) {
    for (Entry& entry : entries_) entry.pending = false;
    return;
  }
  SendPending();
}

uint64_t MsixTable::ReadTable(size_t offset, size_t size) const {
  if (size == 8) {
    return Word(offset) | static_cast<uint64_t>(Word(offset + 4)) << 32;
  }
  const uint64_t word = Word(offset / 4 * 4) >> (offset % 4 * 8);
  return word & ((uint64_t{1} << (size * 8)) - 1);
}

void MsixTable::WriteTable(size_t offset, size_t size, uint64_t value) {
  // Software may write only whole words.  The specification leaves the effect
  // of a smaller write on the rest of the word undefined.
  if (size < 4) return;
  SetWord(offset, static_cast<uint32_t>(value));
  if (size == 8) SetWord(offset + 4, static_cast<uint32_t>(value >> 32));
  SendPending();
}

uint64_t MsixTable::ReadPending(size_t offset, size_t size) const {
  uint64_t bits = 0;
  for (size_t bit = 0; bit < size * 8; ++bit) {
    const size_t vector = offset * 8 + bit;
    if (vector < entries_.size() && entries_[vector].pending) {
      bits |= uint64_t{1} << bit;
    }
  }
  return bits;
}

void MsixTable::Reset() {
  for (Entry& entry : entries_) entry = Entry();
  enabled_ = false;
  all_masked_ = false;
}

void MsixTable::SendPending() {
  if (!enabled_) return;
  for (Entry& entry : entries_) {
    if (entry.pending && !Masked(entry)) {
      entry.pending = false;
      send_(entry.address, entry.data);
    }
  }
}

uint32_t MsixTable::Word(size_t offset) const {
  if (offset >= TableSize()) return 0;
  const Entry& entry = entries_[offset / kEntrySize];
  switch (offset % kEntrySize) {
    case 0:
      return static_cast<uint32_t>(entry.address);
    case 4:
      return static_cast<uint32_t>(entry.address >> 32);
    case 8:
      return entry.data;
    default:
      return entry.control;
  }
}

void MsixTable::SetWord(size_t offset, uint32_t value) {
  if (offset >= TableSize()) return;
  Entry& entry = entries_[offset / kEntrySize];
  switch (offset % kEntrySize) {
    case 0:
      // A message is a write of one word, so the two lowest address bits are 0.
      entry.address = (entry.address & ~uint64_t{0xffffffff}) | (value & ~3u);
      break;
    case 4:
      entry.address =
          (entry.address & 0xffffffff) | static_cast<uint64_t>(value) << 32;
      break;
    case 8:
      entry.data = value;
      break;
    default:
      entry.control = value & kMasked;
      break;
  }
}

}  // namespace ibemu::hca::model
