#include "hca/remote/mpqemu_link.h"

#include <linux/pci_regs.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/status_macros.h"

namespace ibemu::hca::remote {
namespace {

// The value that a bus returns where no device answers.
constexpr uint64_t kNobody = ~uint64_t{0};

constexpr size_t kControlSpace =
    CMSG_SPACE(sizeof(int) * MpqemuDecoder::kMaxDescriptors);

std::vector<UniqueFd> DescriptorsIn(const msghdr& message) {
  std::vector<UniqueFd> descriptors;
  auto* const header = const_cast<msghdr*>(&message);
  for (cmsghdr* control = CMSG_FIRSTHDR(header); control != nullptr;
       control = CMSG_NXTHDR(header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
  return descriptors;
}

}  // namespace

MpqemuLink::MpqemuLink(UniqueFd socket, model::PciDevice& device,
                       GuestMemory& memory)
    : socket_(std::move(socket)), device_(device), memory_(memory) {}

absl::StatusOr<bool> MpqemuLink::OnReadable() {
  bool served = false;
  while (true) {
    IBEMU_ASSIGN_OR_RETURN(const bool received, Receive());
    if (!received) return served;
    served = true;
    if (auto message = decoder_.Take()) {
      IBEMU_RETURN_IF_ERROR(Handle(*std::move(message)));
    }
  }
}

absl::StatusOr<bool> MpqemuLink::Receive() {
  std::array<std::byte, 256> buffer;
  alignas(cmsghdr) std::array<char, kControlSpace> control;
  iovec data = {buffer.data(), std::min(buffer.size(), decoder_.wanted())};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size =
      recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    if (errno == ECONNRESET) return absl::UnavailableError("QEMU has gone");
    return absl::ErrnoToStatus(errno, "QEMU's proxy device: recvmsg");
  }
  if (size == 0) return absl::UnavailableError("QEMU has gone");
  std::vector<UniqueFd> descriptors = DescriptorsIn(message);
  IBEMU_RETURN_IF_ERROR(
      decoder_.Add(std::span(buffer).first(static_cast<size_t>(size)),
                   std::move(descriptors)));
  return true;
}

absl::Status MpqemuLink::Handle(MpqemuMessage message) {
  return std::visit(
      [this](auto&& what) -> absl::Status {
        using What = std::remove_cvref_t<decltype(what)>;
        if constexpr (std::is_same_v<What, SyncMemory>) {
          return memory_.Replace(what.regions);
        } else if constexpr (std::is_same_v<What, SetIrqFd>) {
          return absl::OkStatus();
        } else if constexpr (std::is_same_v<What, DeviceReset>) {
          ++counters_.resets;
          if (on_reset_) on_reset_();
          device_.Reset();
          return Answer(0);
        } else if constexpr (std::is_same_v<What, ConfigRead> ||
                             std::is_same_v<What, ConfigWrite>) {
          ++counters_.config_accesses;
          return Answer(Config(what));
        } else {
          ++counters_.bar_accesses;
          return Answer(Bar(what));
        }
      },
      std::move(message));
}

absl::Status MpqemuLink::Answer(uint64_t value) {
  const std::array<std::byte, 24> bytes = EncodeReturn(value);
  // QEMU sends one request at a time, so there is always room for an answer.
  const ssize_t size = send(socket_.get(), bytes.data(), bytes.size(),
                            MSG_NOSIGNAL | MSG_DONTWAIT);
  if (size == static_cast<ssize_t>(bytes.size())) return absl::OkStatus();
  if (size < 0 && (errno == EPIPE || errno == ECONNRESET)) {
    return absl::UnavailableError("QEMU has gone");
  }
  if (size < 0 && errno != EAGAIN) {
    return absl::ErrnoToStatus(errno, "QEMU's proxy device: send");
  }
  return absl::InvalidArgumentError(
      "QEMU's proxy device asks, and takes no answers");
}

uint64_t MpqemuLink::Config(const ConfigRead& read) {
  return device_.ReadConfig(read.offset, read.size);
}

uint64_t MpqemuLink::Config(const ConfigWrite& write) {
  device_.WriteConfig(write.offset, write.size, write.value);
  return 0;
}

uint64_t MpqemuLink::Bar(const BarRead& read) {
  const Place place = FindBar(read.address, read.size);
  return place.bar < 0 ? kNobody
                       : device_.ReadBar(place.bar, place.offset, read.size);
}

uint64_t MpqemuLink::Bar(const BarWrite& write) {
  const Place place = FindBar(write.address, write.size);
  if (place.bar >= 0) {
    device_.WriteBar(place.bar, place.offset, write.size, write.value);
  }
  return 0;
}

MpqemuLink::Place MpqemuLink::FindBar(uint64_t address, size_t size) {
  for (int bar = 0; bar < PCI_STD_NUM_BARS; ++bar) {
    const uint64_t bar_size = device_.BarSize(bar);
    if (bar_size < size) continue;
    const uint64_t start =
        device_.ReadConfig(PCI_BASE_ADDRESS_0 + 4 * static_cast<size_t>(bar),
                           4) &
        static_cast<uint32_t>(PCI_BASE_ADDRESS_MEM_MASK);
    if (address >= start && address - start <= bar_size - size) {
      return {bar, static_cast<size_t>(address - start)};
    }
  }
  ++counters_.stray_accesses;
  return {-1, 0};
}

}  // namespace ibemu::hca::remote
