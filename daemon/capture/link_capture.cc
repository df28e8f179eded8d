#include "daemon/capture/link_capture.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "fabric/forwarding/forwarder.h"
#include "fabric/packet/packet_bytes.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {

using fabric::PortId;

LinkCapture::LinkCapture(Loop& loop, fabric::Fabric& fabric, Ports ports,
                         UniqueFd socket, CaptureStream::Options options)
    : fabric_(fabric),
      ports_(std::move(ports)),
      stream_(loop, std::move(socket), options) {}

LinkCapture::~LinkCapture() { StopListening(); }

absl::Status LinkCapture::Start() {
  IBEMU_RETURN_IF_ERROR(stream_.Start([this] { StopListening(); }));
  fabric_.forwarder().AddTap(*this);
  listening_ = true;
  return absl::OkStatus();
}

void LinkCapture::OnCrossing(PortId from, PortId to, uint8_t vl,
                             const fabric::Packet& packet) {
  if (!ports_.empty() && !ports_.contains(from) && !ports_.contains(to)) return;
  if (!stream_.HasRoom()) return;
  const auto name = [this](PortId id) {
    const fabric::Subnet& subnet = std::as_const(fabric_).subnet();
    return absl::StrCat(subnet.NodeOf(id).description, "/",
                        subnet.port(id).number);
  };
  stream_.Send(
      static_cast<uint32_t>(from),
      [&] { return PortNames{.own = name(from), .peer = name(to)}; },
      ErfHeader::Direction::kUnknown, fabric::BytesOf(packet, vl));
}

void LinkCapture::StopListening() {
  if (std::exchange(listening_, false)) fabric_.forwarder().RemoveTap(*this);
}

}  // namespace ibemu::daemon
