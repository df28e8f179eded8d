#include "daemon/capture/capture_file.h"

#include <algorithm>
#include <string_view>

#include "base/status_macros.h"
#include "daemon/capture/capture_format.h"

namespace ibemu::daemon {
namespace {

constexpr size_t kHeader = wire::kBytes<ErfHeader>;

absl::Status AddPort(std::span<const std::byte> body, PacketFile& format,
                     std::vector<std::byte>& file) {
  if (body.size() < sizeof(uint32_t)) {
    return absl::DataLossError("the daemon sent a port without a number");
  }
  uint32_t id = 0;
  for (size_t i = 0; i < sizeof(id); ++i) {
    id = id << 8 | std::to_integer<uint32_t>(body[i]);
  }
  const auto names = body.subspan(sizeof(id));
  const std::string_view text(reinterpret_cast<const char*>(names.data()),
                              names.size());
  const size_t zero = std::min(text.find('\0'), text.size());
  format.Port(id, text.substr(0, zero),
              text.substr(std::min(zero + 1, text.size())), file);
  return absl::OkStatus();
}

}  // namespace

absl::Status CaptureFile::Add(std::span<const std::byte> stream,
                              std::vector<std::byte>& file) {
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
    if (header.type == ErfHeader::kPort) {
      IBEMU_RETURN_IF_ERROR(AddPort(record.subspan(kHeader), format_, file));
      continue;
    }
    ++packets_;
    format_.Packet(header, record, file);
  }
  rest_.erase(rest_.begin(),
              rest_.end() - static_cast<std::ptrdiff_t>(left.size()));
  return absl::OkStatus();
}

}  // namespace ibemu::daemon
