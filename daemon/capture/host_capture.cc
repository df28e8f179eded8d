#include "daemon/capture/host_capture.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "daemon/capture/mad_packet.h"
#include "fabric/packet/packet_bytes.h"
#include "mad/host.h"
#include "mad/snooper.h"

namespace ibemu::daemon {

// The snooper of one port.
class HostCapture::PortSnooper final : public mad::Snooper {
 public:
  PortSnooper(HostCapture& capture, mad::Host& host, int number)
      : capture_(capture),
        port_(host.device().port(number)),
        number_(number),
        entry_(host.Snoop(number, *this)) {}

  void OnSent(const mad::Outgoing& packet,
              const absl::Status& result) override {
    if (!result.ok() || !capture_.stream_.HasRoom()) return;
    Send(PacketOf(packet, port_), ErfHeader::Direction::kSent);
  }
  void OnReceived(const mad::Arrival& arrival) override {
    if (!capture_.stream_.HasRoom()) return;
    Send(PacketOf(arrival, port_), ErfHeader::Direction::kReceived);
  }

 private:
  void Send(const fabric::Packet& packet, ErfHeader::Direction direction) {
    const auto names = [this] {
      return PortNames{
          .own = absl::StrCat(
              capture_.hosts_.adapters().description(capture_.adapter_), "/",
              number_),
          .peer = ""};
    };
    // The MAD layer does not know the lane of a GMP, which follows from its SL.
    capture_.stream_.Send(static_cast<uint32_t>(number_), names, direction,
                          fabric::BytesOf(packet, /*vl=*/0));
  }

  HostCapture& capture_;
  mad::Port& port_;
  const int number_;
  const std::unique_ptr<mad::Snoops::Entry> entry_;
};

HostCapture::HostCapture(Loop& loop, HostTable& hosts, AdapterId adapter,
                         UniqueFd socket, CaptureStream::Options options)
    : hosts_(hosts),
      adapter_(adapter),
      stream_(loop, std::move(socket), options) {}

HostCapture::~HostCapture() { StopListening(); }

absl::Status HostCapture::Start() {
  IBEMU_RETURN_IF_ERROR(stream_.Start([this] { StopListening(); }));
  hosts_.AddWatcher(*this);
  listening_ = true;
  if (const auto host = hosts_.Find(adapter_)) OnHost(adapter_, *host);
  return absl::OkStatus();
}

void HostCapture::OnHost(AdapterId adapter, mad::Host& host) {
  if (adapter != adapter_) return;
  snoopers_.clear();
  const mad::Device& device = host.device();
  for (int n = device.first_port(); n <= device.last_port(); ++n) {
    snoopers_.push_back(std::make_unique<PortSnooper>(*this, host, n));
  }
}

void HostCapture::StopListening() {
  if (!std::exchange(listening_, false)) return;
  hosts_.RemoveWatcher(*this);
  snoopers_.clear();
}

}  // namespace ibemu::daemon
