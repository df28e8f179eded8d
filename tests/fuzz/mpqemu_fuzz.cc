// What QEMU's proxy device may send, whatever it is: the link answers, or says
// that it can't be followed.  Also an IOMMU's tables that lead anywhere.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "hca/model/pci_endpoint.h"
#include "hca/remote/mpqemu_link.h"
#include "hca/remote/vtd_walker.h"

namespace {

using ibemu::UniqueFd;
using ibemu::hca::model::PciEndpoint;
using ibemu::hca::remote::GuestMemory;
using ibemu::hca::remote::MpqemuLink;
using ibemu::hca::remote::VtdRegisters;
using ibemu::hca::remote::VtdWalker;

// Must be asked within its BARs alone.
class Device : public PciEndpoint {
 public:
  Device()
      : PciEndpoint({.vendor = 0x15b3, .device = 0x1003},
                    {.bar = 0, .table_offset = 0x800, .pending_offset = 0xc00},
                    4) {
    config().AddMemoryBar(0, 0x1000);
    config().AddMemoryBar(2, 0x2000);
    config().AddPciExpress({});
  }

 private:
  void Check(int bar, size_t offset, size_t size) const {
    if (offset + size > BarSize(bar) || offset % size != 0) std::abort();
  }
  uint64_t ReadRegister(int bar, size_t offset, size_t size) override {
    Check(bar, offset, size);
    return 0;
  }
  void WriteRegister(int bar, size_t offset, size_t size, uint64_t) override {
    Check(bar, offset, size);
    Interrupt(static_cast<int>(offset % 5));
  }
  void ResetRegisters() override {}
};

class Nowhere : public ibemu::hca::model::PciHost {
 public:
  bool ReadMemory(uint64_t, std::span<std::byte>) override { return false; }
  bool WriteMemory(uint64_t, std::span<const std::byte>) override {
    return false;
  }
  void SignalMessage(uint64_t, uint32_t) override {}
};

void Link(const uint8_t* data, size_t size) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) std::abort();
  const UniqueFd qemu(ends[1]);
  Nowhere host;
  Device device;
  device.SetHost(&host);
  GuestMemory memory;
  MpqemuLink link(UniqueFd(ends[0]), device, memory);
  if (send(qemu.get(), data, size, MSG_DONTWAIT) < 0) return;
  link.OnReadable().status().IgnoreError();
}

void Walk(const uint8_t* data, size_t size) {
  if (size < 32) return;
  const auto word = [data, size](uint64_t at) {
    std::array<uint8_t, 8> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = data[(at + i) % size];
    }
    return std::bit_cast<uint64_t>(bytes);
  };
  VtdWalker walker(0, 0x80, [word](uint64_t at) -> std::optional<uint64_t> {
    if (at >> 62 != 0) return std::nullopt;
    return word(at);
  });
  const VtdRegisters registers = {static_cast<uint32_t>(word(0)) | 1u << 31,
                                  word(8) & ~uint64_t{0xc00}};
  const auto page = walker.Translate(registers, word(16), (data[24] & 1) != 0);
  if (page && page->size == 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Link(data, std::min(size, size_t{16384}));
  Walk(data, size);
  return 0;
}
