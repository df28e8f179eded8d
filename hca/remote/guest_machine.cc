#include "hca/remote/guest_machine.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/status_macros.h"

namespace ibemu::hca::remote {
namespace {

// The interrupt controller's addresses, which no IOMMU translates.
constexpr uint64_t kMessagesBegin = 0xfee00000;
constexpr uint64_t kMessagesEnd = 0xfef00000;

}  // namespace

GuestMachine::GuestMachine(GuestMemory& memory, QtestChannel& qtest)
    : memory_(memory), qtest_(qtest) {}

void GuestMachine::AddIommu(uint8_t devfn) {
  iommu_.emplace(0, devfn, [this](uint64_t address) -> std::optional<uint64_t> {
    std::array<std::byte, 8> bytes;
    if (!memory_.Read(address, bytes)) return std::nullopt;
    return std::bit_cast<uint64_t>(bytes);
  });
}

bool GuestMachine::ReadMemory(uint64_t address, std::span<std::byte> into) {
  return ForEachPiece(address, into.size(), /*write=*/false,
                      [&](uint64_t at, size_t begin, size_t size) {
                        return memory_.Read(at, into.subspan(begin, size));
                      });
}

bool GuestMachine::WriteMemory(uint64_t address,
                               std::span<const std::byte> from) {
  return ForEachPiece(address, from.size(), /*write=*/true,
                      [&](uint64_t at, size_t begin, size_t size) {
                        return memory_.Write(at, from.subspan(begin, size));
                      });
}

void GuestMachine::SignalMessage(uint64_t address, uint32_t data) {
  ++counters_.interrupts;
  if (address < kMessagesBegin || address >= kMessagesEnd) {
    const auto bytes = std::bit_cast<std::array<std::byte, 4>>(data);
    WriteMemory(address, bytes);
    return;
  }
  Note(qtest_.Write32(address, data));
}

template <class Access>
bool GuestMachine::ForEachPiece(uint64_t address, size_t size, bool write,
                                Access access) {
  if (!iommu_) {
    if (access(address, 0, size)) return true;
    ++counters_.faults;
    return false;
  }
  // Pages are translated in two passes, because nothing may be copied unless
  // all of them are mapped.
  for (const bool copying : {false, true}) {
    for (size_t done = 0; done < size;) {
      const auto page = Translate(address + done, write);
      const size_t piece =
          page
              ? static_cast<size_t>(std::min<uint64_t>(size - done, page->size))
              : 0;
      if (!page || (copying && !access(page->address, done, piece))) {
        ++counters_.faults;
        return false;
      }
      done += piece;
    }
  }
  return true;
}

std::optional<VtdWalker::Translation> GuestMachine::Translate(uint64_t address,
                                                              bool write) {
  if (registers_) {
    if (auto page = iommu_->Translate(*registers_, address, write)) {
      return page;
    }
  }
  if (!ReadRegisters()) return std::nullopt;
  const VtdRegisters registers = *registers_;
  if (!VtdWalker::Enabled(registers)) registers_.reset();
  return iommu_->Translate(registers, address, write);
}

bool GuestMachine::ReadRegisters() {
  registers_.reset();
  const absl::StatusOr<uint32_t> status = qtest_.Read32(kVtdStatus);
  Note(status.status());
  // If QEMU did not answer in time, it would not answer the next read in time,
  // either.
  if (!status.ok()) return false;
  const absl::StatusOr<uint64_t> root = qtest_.Read64(kVtdRootAddress);
  Note(root.status());
  if (!root.ok()) return false;
  registers_ = VtdRegisters{*status, *root};
  return true;
}

void GuestMachine::Note(const absl::Status& status) {
  if (!status.ok() && on_error_) on_error_(status);
}

}  // namespace ibemu::hca::remote
