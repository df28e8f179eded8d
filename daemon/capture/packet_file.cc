#include "daemon/capture/packet_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "daemon/capture/pcap_file.h"
#include "daemon/capture/pcapng_file.h"

namespace ibemu::daemon {

absl::StatusOr<PacketFileFormat> ParsePacketFileFormat(std::string_view text,
                                                       std::string_view file) {
  if (text.empty()) {
    return file.ends_with(".pcapng") ? PacketFileFormat::kPcapng
                                     : PacketFileFormat::kPcap;
  }
  if (text == "pcap") return PacketFileFormat::kPcap;
  if (text == "pcapng") return PacketFileFormat::kPcapng;
  return absl::InvalidArgumentError(
      absl::StrCat("--file-format=", Absl(text), ": there are pcap and pcapng",
                   DidYouMean(text, {"pcap", "pcapng"}).Question()));
}

std::unique_ptr<PacketFile> MakePacketFile(PacketFileFormat format,
                                           std::string about) {
  if (format == PacketFileFormat::kPcap) return std::make_unique<PcapFile>();
  return std::make_unique<PcapngFile>(std::move(about));
}

}  // namespace ibemu::daemon
