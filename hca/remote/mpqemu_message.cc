#include "hca/remote/mpqemu_message.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::hca::remote {
namespace {

// MPQemuCmd.
enum Command : uint32_t {
  kSyncSysmem = 0,
  kReturn = 1,
  kConfigWrite = 2,
  kConfigRead = 3,
  kBarWrite = 4,
  kBarRead = 5,
  kSetIrqFd = 6,
  kDeviceReset = 7,
};

struct RawHeader {
  uint32_t command;
  uint32_t padding;
  uint64_t size;  // bytes of content
};
static_assert(sizeof(RawHeader) == 16);

// SyncSysmemMsg.
struct RawMemory {
  std::array<uint64_t, MpqemuDecoder::kMaxDescriptors> address;
  std::array<uint64_t, MpqemuDecoder::kMaxDescriptors> size;
  std::array<uint64_t, MpqemuDecoder::kMaxDescriptors> offset;
};
static_assert(sizeof(RawMemory) == 192);

// PciConfDataMsg.
struct RawConfig {
  uint32_t offset;
  uint32_t value;
  uint32_t size;
};
static_assert(sizeof(RawConfig) == 12);

// BarAccessMsg.
struct RawBar {
  uint64_t address;
  uint64_t value;
  uint32_t size;
  uint8_t is_memory;
  std::array<uint8_t, 3> padding;
};
static_assert(sizeof(RawBar) == 24);

template <class Raw>
Raw Copy(std::span<const std::byte> bytes) {
  Raw raw;
  std::memcpy(&raw, bytes.data(), sizeof raw);
  return raw;
}

// Returns the size of a command's content in bytes; none if QEMU has no such
// command.
std::optional<size_t> ContentSize(uint32_t command) {
  switch (command) {
    case kSyncSysmem:
      return sizeof(RawMemory);
    case kConfigWrite:
    case kConfigRead:
      return sizeof(RawConfig);
    case kBarWrite:
    case kBarRead:
      return sizeof(RawBar);
    case kSetIrqFd:
    case kDeviceReset:
      return 0;
    default:
      return std::nullopt;
  }
}

bool IsAccessSize(uint32_t size, uint32_t largest) {
  return size != 0 && size <= largest && (size & (size - 1)) == 0;
}

absl::Status Strange(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("QEMU's proxy device: ", Absl(what), ": is it QEMU 7.2?"));
}

}  // namespace

absl::Status MpqemuDecoder::Add(std::span<const std::byte> bytes,
                                std::vector<UniqueFd> descriptors) {
  if (bytes.size() > wanted()) {
    return absl::InternalError("more was read than wanted");
  }
  for (UniqueFd& descriptor : descriptors) {
    if (descriptors_.size() == kMaxDescriptors) {
      return Strange("more than 8 descriptors came with a message");
    }
    descriptors_.push_back(std::move(descriptor));
  }
  std::memcpy(buffer_.data() + filled_, bytes.data(), bytes.size());
  filled_ += bytes.size();
  if (filled_ < wanted_) return absl::OkStatus();
  if (in_header_) {
    if (absl::Status status = Header(); !status.ok()) return status;
    if (wanted_ != 0) return absl::OkStatus();
  }
  absl::Status status = Content();
  descriptors_.clear();
  filled_ = 0;
  wanted_ = kHeaderSize;
  in_header_ = true;
  return status;
}

std::optional<MpqemuMessage> MpqemuDecoder::Take() {
  return std::exchange(message_, std::nullopt);
}

absl::Status MpqemuDecoder::Header() {
  const auto header = Copy<RawHeader>(buffer_);
  const std::optional<size_t> size = ContentSize(header.command);
  if (!size) {
    return Strange(absl::StrCat("command ", header.command, " is unknown"));
  }
  if (header.size != *size) {
    return Strange(absl::StrCat("command ", header.command, " has ",
                                header.size, " bytes instead of ", *size));
  }
  command_ = header.command;
  in_header_ = false;
  filled_ = 0;
  wanted_ = *size;
  return absl::OkStatus();
}

absl::Status MpqemuDecoder::Content() {
  switch (command_) {
    case kSyncSysmem:
      return MemoryContent();
    case kConfigRead:
    case kConfigWrite: {
      const auto raw = Copy<RawConfig>(buffer_);
      if (!IsAccessSize(raw.size, 4)) {
        return Strange(absl::StrCat("an access to configuration space has ",
                                    raw.size, " bytes"));
      }
      if (command_ == kConfigRead) {
        message_ = ConfigRead{raw.offset, raw.size};
      } else {
        message_ = ConfigWrite{raw.offset, raw.size, raw.value};
      }
      return absl::OkStatus();
    }
    case kBarRead:
    case kBarWrite: {
      const auto raw = Copy<RawBar>(buffer_);
      if (!IsAccessSize(raw.size, 8)) {
        return Strange(
            absl::StrCat("an access to a BAR has ", raw.size, " bytes"));
      }
      if (command_ == kBarRead) {
        message_ = BarRead{raw.address, raw.size};
      } else {
        message_ = BarWrite{raw.address, raw.size, raw.value};
      }
      return absl::OkStatus();
    }
    case kSetIrqFd:
      message_ = SetIrqFd{};
      return absl::OkStatus();
    default:
      message_ = DeviceReset{};
      return absl::OkStatus();
  }
}

absl::Status MpqemuDecoder::MemoryContent() {
  const auto raw = Copy<RawMemory>(buffer_);
  SyncMemory memory;
  for (size_t i = 0; i < descriptors_.size(); ++i) {
    memory.regions.push_back({raw.address[i], raw.size[i], raw.offset[i],
                              std::move(descriptors_[i])});
  }
  message_ = std::move(memory);
  return absl::OkStatus();
}

std::array<std::byte, 24> EncodeReturn(uint64_t value) {
  const RawHeader header = {kReturn, 0, sizeof value};
  std::array<std::byte, 24> bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &value, sizeof value);
  return bytes;
}

}  // namespace ibemu::hca::remote
