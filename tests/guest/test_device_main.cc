// guest-test-device -- QEMU ARG...: a virtual machine with a PCI device that
// shows what the way between them can do.
//
// BAR 0, little-endian words:
//   0x00  reads 0x1be31003
//   0x04  keeps what is written
//   0x10  8 bytes: a bus address
//   0x18  data
//   0x1c  writing 1 reads `data` from that address, 2 writes it there
//   0x20  what came of that: 1, or 2 for a fault
//   0x24  writing n interrupts with vector n
// BAR 2: offset 8 is the size of the last write in bytes, 16 its value.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "cli/hca_model/hca_model_machine.h"
#include "hca/model/pci_endpoint.h"
#include "launch/child.h"
#include "loop/loop.h"

namespace ibemu {
namespace {

// In the shape of a ConnectX-3, whose driver the guest does not load.
class TestDevice : public hca::model::PciEndpoint {
 public:
  TestDevice()
      : PciEndpoint(
            {.vendor = 0x15b3,
             .device = 0x1003,
             .subsystem_vendor = 0x15b3,
             .subsystem = 0x0051,
             .class_code = 0x028000},
            {.bar = 0, .table_offset = 0x7c000, .pending_offset = 0x7d000},
            kVectors) {
    config().AddMemoryBar(0, size_t{1} << 20);
    config().AddMemoryBar(2, size_t{8} << 20);
    config().AddPciExpress({});
  }

 private:
  static constexpr int kVectors = 4;
  static constexpr uint32_t kDone = 1, kFault = 2;

  uint64_t ReadRegister(int bar, size_t offset, size_t) override {
    if (bar == 2) return offset == 8 ? last_size_ : last_value_;
    switch (offset) {
      case 0:
        return 0x1be31003;
      case 4:
        return scratch_;
      case 0x10:
        return address_;
      case 0x18:
        return data_;
      case 0x20:
        return result_;
      default:
        return 0;
    }
  }

  void WriteRegister(int bar, size_t offset, size_t size,
                     uint64_t value) override {
    if (bar == 2) {
      last_size_ = size;
      last_value_ = value;
      return;
    }
    const auto word = static_cast<uint32_t>(value);
    switch (offset) {
      case 4:
        scratch_ = word;
        break;
      case 0x10:
        address_ = value;
        break;
      case 0x18:
        data_ = word;
        break;
      case 0x1c:
        result_ = Copy(word == 2) ? kDone : kFault;
        break;
      case 0x24:
        Interrupt(static_cast<int>(word));
        break;
      default:
        break;
    }
  }

  bool Copy(bool to_memory) {
    const std::span<uint32_t> data(&data_, 1);
    return to_memory ? WriteMemory(address_, std::as_bytes(data))
                     : ReadMemory(address_, std::as_writable_bytes(data));
  }

  void ResetRegisters() override {
    scratch_ = 0;
    address_ = 0;
    data_ = 0;
    result_ = 0;
  }

  uint32_t scratch_ = 0;
  uint64_t address_ = 0;
  uint32_t data_ = 0;
  uint32_t result_ = 0;
  uint64_t last_size_ = 0;
  uint64_t last_value_ = 0;
};

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "guest-test-device: %s\n",
               std::string(status.message()).c_str());
  return 125;
}

int Run(const std::vector<std::string>& qemu) {
  const launch::LauncherSignals signals;
  auto loop = ibemu::MakeLoop();
  if (!loop.ok()) return Fail(loop.status());
  TestDevice device;
  auto machine = cli::HcaModelMachine::Start(**loop, signals, device, qemu);
  if (!machine.ok()) return Fail(machine.status());
  const int wait_status = (*machine)->Run();
  if (!(*machine)->status().ok()) return Fail((*machine)->status());
  const hca::remote::MpqemuLink::Counters& link = (*machine)->link().counters();
  const hca::remote::GuestMachine::Counters& guest =
      (*machine)->guest().counters();
  std::fprintf(stderr,
               "guest-test-device: config %ju bar %ju stray %ju resets %ju "
               "interrupts %ju faults %ju\n",
               uintmax_t{link.config_accesses}, uintmax_t{link.bar_accesses},
               uintmax_t{link.stray_accesses}, uintmax_t{link.resets},
               uintmax_t{guest.interrupts}, uintmax_t{guest.faults});
  return launch::EndLike(wait_status);
}

}  // namespace
}  // namespace ibemu

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "--") {
    arguments.erase(arguments.begin());
  }
  return ibemu::Run(arguments);
}
