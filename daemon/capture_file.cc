#include "daemon/capture_file.h"

#include "daemon/capture_format.h"

namespace ibemu::daemon {
std::vector<std::byte> CaptureFile::Header() {
  std::vector<std::byte> file;
  wire::Append(PcapFileHeader{}, file);
  return file;
}

absl::Status CaptureFile::Add(std::span<const std::byte> stream,
                              std::vector<std::byte>& file) {
  constexpr size_t kHeader = wire::kBytes<ErfHeader>;
  rest_.insert(rest_.end(), stream.begin(), stream.end());
  std::span<const std::byte> left = rest_;
  while (left.size() >= kHeader && !full()) {
    const auto header = wire::Decode<ErfHeader>(left);
    if (header.record_length < kHeader) {
      return absl::DataLossError("the daemon sent something else than packets");
    }
    if (left.size() < header.record_length) break;
    const std::span<const std::byte> record = left.first(header.record_length);
    left = left.subspan(record.size());
    lost_ += header.lost;
    if (header.type == ErfHeader::kPad) {
      ended_ = true;
      continue;
    }
    ++packets_;
    const uint64_t time = header.timestamp();
    constexpr uint64_t kNanoseconds = 1'000'000'000;
    wire::Append(PcapPacketHeader{.seconds = static_cast<uint32_t>(time >> 32),
                                  .nanoseconds = static_cast<uint32_t>(
                                      (time & 0xffffffff) * kNanoseconds >> 32),
                                  .captured = header.record_length,
                                  .original = static_cast<uint32_t>(kHeader) +
                                              header.wire_length},
                 file);
    file.insert(file.end(), record.begin(), record.end());
  }
  rest_.erase(rest_.begin(),
              rest_.end() - static_cast<std::ptrdiff_t>(left.size()));
  return absl::OkStatus();
}

}  // namespace ibemu::daemon
