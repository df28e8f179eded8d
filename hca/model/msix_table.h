// MsixTable: MSI-X of a device model (PCI Local Bus 3.0 section 6.8.2).
#ifndef IBEMU_HCA_MODEL_MSIX_TABLE_H_
#define IBEMU_HCA_MODEL_MSIX_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace ibemu::hca::model {

// The table of vectors and the array of their pending bits, both of which lie
// in the function's BARs.  PciEndpoint exposes them there; a model only calls
// Signal().
class MsixTable {
 public:
  // The function that writes 4 bytes to the bus.
  using Send = absl::AnyInvocable<void(uint64_t address, uint32_t data)>;

  static constexpr size_t kEntrySize = 16;  // bytes

  // REQUIRES: `vectors` is 1 ... 2048.
  MsixTable(int vectors, Send send);

  int vectors() const { return static_cast<int>(entries_.size()); }
  size_t TableSize() const { return entries_.size() * kEntrySize; }  // bytes
  size_t PendingSize() const { return (entries_.size() + 63) / 64 * 8; }

  // Raises interrupt `vector` (0 ... vectors() - 1).  While the vector is
  // masked, this sets its pending bit instead, and one message is sent when the
  // mask is removed.  While MSI-X is disabled, this does nothing.
  void Signal(int vector);

  // Sets the two bits that software controls in the capability's Message
  // Control.
  void SetControl(bool enabled, bool all_masked);

  // Accesses by software.  `size` is 1, 2, 4 or 8 bytes at `offset` of the
  // table or the array, aligned.  Reads outside of them return 0.
  uint64_t ReadTable(size_t offset, size_t size) const;
  void WriteTable(size_t offset, size_t size, uint64_t value);
  uint64_t ReadPending(size_t offset, size_t size) const;

  // Disables MSI-X, and masks and clears all entries.
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
