// What QEMU's proxy device may send, whatever it is: the link answers, or says
// that it can't be followed.  Each input is taken three times: as the bytes of
// a stream; as the steps of a conversation of whole messages, with descriptors,
// memory that the device reads and writes, and interrupts; and as an IOMMU's
// tables that lead anywhere.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "hca/model/pci_endpoint.h"
#include "hca/remote/guest_machine.h"
#include "hca/remote/guest_memory.h"
#include "hca/remote/mpqemu_link.h"
#include "hca/remote/qtest_channel.h"
#include "hca/remote/vtd_walker.h"
#include "testing/fuzz_input.h"
#include "testing/socket_pair.h"
#include "tests/hca/remote/fake_qemu.h"

namespace {

using ibemu::UniqueFd;
using ibemu::hca::model::PciEndpoint;
using ibemu::testing::FuzzInput;
using ibemu::testing::SocketPair;
using namespace ibemu::hca::remote;

void Require(bool holds) {
  if (!holds) std::abort();
}

// Must be asked within its BARs alone.  What is written to its second BAR is an
// address: it copies as many bytes as the offset says from there to the memory
// after them.
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
    Require(offset + size <= BarSize(bar) && offset % size == 0);
  }
  uint64_t ReadRegister(int bar, size_t offset, size_t size) override {
    Check(bar, offset, size);
    return 0;
  }
  void WriteRegister(int bar, size_t offset, size_t size,
                     uint64_t value) override {
    Check(bar, offset, size);
    if (bar == 2) Copy(value, offset);
    Interrupt(static_cast<int>(offset % 5));
  }
  void Copy(uint64_t from, size_t size) {
    std::vector<std::byte> bytes(size), back(size);
    if (!ReadMemory(from, bytes)) return;
    if (!WriteMemory(from + size, bytes)) return;
    // A file may be in two places, and these may overlap.
    Require(ReadMemory(from + size, back));
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
  auto [ours, qemu] = SocketPair();
  Nowhere host;
  Device device;
  device.SetHost(&host);
  GuestMemory memory;
  MpqemuLink link(std::move(ours), device, memory);
  if (send(qemu.get(), data, size, MSG_DONTWAIT) < 0) return;
  link.OnReadable().status().IgnoreError();
}

// What comes with a message: memory of three sizes as QEMU shares it, memory
// that may shrink, and what is no memory.
std::span<const UniqueFd> Files() {
  static const std::array<UniqueFd, 6> files = {
      MemoryFile(4096),
      MemoryFile(65536),
      MemoryFile(1 << 20),
      MemoryFile(4096, /*seals=*/0),
      UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC)),
      UniqueFd(eventfd(0, EFD_CLOEXEC))};
  return files;
}

// A Conversation goes on until the link can't follow.
class Conversation {
 public:
  explicit Conversation(FuzzInput& input)
      : Conversation(input, SocketPair(), SocketPair()) {}

  void Hold() {
    while (!input_.empty() && Step()) continue;
    TakeAnswers();
  }

 private:
  Conversation(FuzzInput& input, std::pair<UniqueFd, UniqueFd> link,
               std::pair<UniqueFd, UniqueFd> qtest)
      : input_(input),
        qemu_(std::move(link.second)),
        qtest_qemu_(std::move(qtest.second)),
        qtest_(std::move(qtest.first)),
        link_(std::move(link.first), device_, memory_) {
    device_.SetHost(&machine_);
    link_.OnReset([this] { machine_.Reset(); });
  }

  // False: the link is dead.
  bool Step() {
    switch (input_.Byte() % 12) {
      case 0:
        return Ask(ConfigReadMessage(ConfigOffset(), Size()));
      case 1:
        return Ask(ConfigWriteMessage(ConfigOffset(), Size(), Word()));
      case 2:
        return Ask(BarReadMessage(BarAddress(), Size()));
      case 3: {
        const uint64_t address = BarAddress();
        const uint32_t size = Size();
        return Ask(BarWriteMessage(address, size, MemoryAddress()));
      }
      case 4:
        return Ask(Message(7, {}));  // DEVICE_RESET
      case 5:
        return Tell(Message(6, {}));  // SET_IRQFD
      case 6:
        return ShareMemory();
      case 7: {
        const auto bytes = input_.Take(input_.Byte());
        all_whole_ = false;
        return Tell({bytes.begin(), bytes.end()});
      }
      case 8:
        TakeAnswers();
        return true;
      case 9:
        piece_ = input_.Byte();
        return true;
      case 10:
        for (int i = input_.Byte() % 12; i >= 0; --i) AttachFile();
        return true;
      default:
        SayByQtest();
        return true;
    }
  }

  uint32_t Word() {
    const uint32_t high = input_.Short();
    return high << 16 | input_.Short();
  }
  uint32_t Size() {
    const uint8_t size = input_.Byte();
    return size < 0xf8 ? 1u << size % 4 : size % 16u;
  }
  uint32_t ConfigOffset() {
    const uint8_t offset = input_.Byte();
    return offset < 0xf8 ? offset : Word();
  }
  // Where BARs mostly are.
  uint64_t BarAddress() {
    const uint32_t offset = input_.Short();
    return (uint64_t{0xfe} << 24) + (offset >> 14 << 16) + (offset & 0x3fff);
  }
  // Where memory is, and its ends.
  uint64_t MemoryAddress() {
    const uint8_t page = input_.Byte();
    const uint64_t address = uint64_t{page} % 32 << 12;
    if (page < 0x80) return address;
    if (page < 0xc0) return address - input_.Byte();
    return page < 0xf0 ? 0xfee00000 + address : ~uint64_t{0} - input_.Short();
  }

  bool ShareMemory() {
    std::array<uint64_t, 3 * MpqemuDecoder::kMaxDescriptors> words{};
    const size_t regions = input_.Byte() % 9;
    for (size_t i = 0; i < regions; ++i) {
      words[i] = MemoryAddress();
      words[8 + i] = uint64_t{input_.Byte()} << 12;
      words[16 + i] = uint64_t{input_.Byte()} << 12;
      AttachFile();
    }
    // Not a page.
    if (regions == 0) words[input_.Byte() % words.size()] = Word();
    return Tell(Message(0, std::as_bytes(std::span(words))));
  }
  void AttachFile() {
    if (files_.size() == 16) return;
    files_.push_back(Files()[input_.Byte() % Files().size()].get());
  }

  bool Ask(const std::vector<std::byte>& message) {
    ++questions_;
    return Tell(message);
  }
  // The descriptors come with the first piece.
  bool Tell(const std::vector<std::byte>& message) {
    const std::vector<int> files = std::exchange(files_, {});
    std::span<const std::byte> left = message;
    for (bool first = true; !left.empty(); first = false) {
      const size_t size =
          piece_ == 0 ? left.size() : std::min(piece_, left.size());
      SendTo(qemu_.get(), left.first(size),
             first ? std::span(files) : std::span<const int>());
      left = left.subspan(size);
      if (!link_.OnReadable().ok()) {
        all_whole_ = false;
        return false;
      }
    }
    return true;
  }

  // All are values, and each question has one.
  void TakeAnswers() {
    const std::string text = ReceiveFrom(qemu_.get());
    Require(text.size() % 24 == 0);
    for (size_t at = 0; at < text.size(); at += 24) {
      std::array<uint64_t, 2> header;
      std::memcpy(header.data(), text.data() + at, sizeof header);
      Require(header == std::array<uint64_t, 2>{1, 8});
    }
    answers_ += text.size() / 24;
    Require(!all_whole_ || answers_ == questions_);
  }

  void SayByQtest() {
    constexpr const char* kLines[] = {"OK\n", "OK 0x80000000\n", "FAIL\n",
                                      "OK 0x\n"};
    const uint8_t which = input_.Byte();
    std::string text;
    if (which < 0xc0) {
      text = kLines[which % std::size(kLines)];
    } else {
      for (const std::byte byte : input_.Take(which % 64u)) {
        text += static_cast<char>(byte);
      }
    }
    send(qtest_qemu_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (which % 2 == 0) ReceiveFrom(qtest_qemu_.get());
    qtest_.OnReadable().IgnoreError();
  }

  FuzzInput& input_;
  UniqueFd qemu_, qtest_qemu_;
  GuestMemory memory_;
  QtestChannel qtest_;
  GuestMachine machine_{memory_, qtest_};
  Device device_;
  MpqemuLink link_;
  std::vector<int> files_;  // that go with the next message
  size_t piece_ = 0;        // 0: messages come as a whole
  size_t questions_ = 0, answers_ = 0;
  bool all_whole_ = true;
};

// The number of the next descriptor: the same again where none leaks.
int LowestFree() {
  return UniqueFd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)).get();
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
  Require(!page || page->size != 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Link(data, std::min(size, size_t{16384}));
  Walk(data, size);
  Files();
  const int next = LowestFree();
  FuzzInput input(data, size);
  Conversation(input).Hold();
  Require(LowestFree() == next);
  return 0;
}
