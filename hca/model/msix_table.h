// MSI-X of a device model (PCI Local Bus 3.0 section 6.8.2).
#ifndef IBEMU_HCA_MODEL_MSIX_TABLE_H_
#define IBEMU_HCA_MODEL_MSIX_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace ibemu::hca::model {

// The table of vectors and the array of their pending bits, which both lie in
// the function's BARs.  PciEndpoint shows them there; a model only signals.
class MsixTable {
 public:
  // A write of 4 bytes to the bus.
  using Send = absl::AnyInvocable<void(uint64_t address, uint32_t data)>;

  static constexpr size_t kEntrySize = 16;  // bytes

  // `vectors`: 1 ... 2048.
  MsixTable(int vectors, Send send);

  int vectors() const { return static_cast<int>(entries_.size()); }
  size_t TableSize() const { return entries_.size() * kEntrySize; }  // bytes
  size_t PendingSize() const { return (entries_.size() + 63) / 64 * 8; }

  // Vector `vector` (0 ... vectors() - 1) has something to say.  While it is
  // masked this becomes a pending bit, and is said once when the mask goes; a
  // function without MSI-X enabled says nothing and keeps nothing.
  void Signal(int vector);

  // The two bits that software sets in the capability's Message Control.
  void SetControl(bool enabled, bool all_masked);
  bool enabled() const { return enabled_; }

  // Software's accesses.  `size`: 1, 2, 4 or 8 bytes at `offset` of the table
  // or the array, aligned; what is outside reads 0.
  uint64_t ReadTable(size_t offset, size_t size) const;
  void WriteTable(size_t offset, size_t size, uint64_t value);
  uint64_t ReadPending(size_t offset, size_t size) const;

  // All masked and empty, not enabled.
  void Reset();

 private:
  struct Entry {
    uint64_t address = 0;
    uint32_t data = 0;
    uint32_t control = kMasked;
    bool pending = false;
  };
  static constexpr uint32_t kMasked = 1;

  bool Masked(const Entry& entry) const {
    return all_masked_ || (entry.control & kMasked) != 0;
  }
  void SendPending();

  uint32_t Word(size_t offset) const;
  void SetWord(size_t offset, uint32_t value);

  std::vector<Entry> entries_;
  bool enabled_ = false;
  bool all_masked_ = false;
  Send send_;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_MSIX_TABLE_H_
