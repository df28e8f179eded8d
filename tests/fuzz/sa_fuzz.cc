// Arbitrary GMPs to subnet administration: none may crash it, and what it
// sends is an answer or a report.  Input: a byte that says how long the clock
// runs before (and whether a link is cut or mended), then up to 256 bytes of a
// MAD behind its first four; repeated.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fabric/fabric.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/sa.h"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"

namespace {

using namespace ibemu;          // NOLINT(google-build-using-namespace)
using namespace ibemu::fabric;  // NOLINT(google-build-using-namespace)

class Inbox : public mad::PortListener {
 public:
  void OnReceive(const mad::Arrival& arrival) override {
    const auto header = wire::Decode<mad::MadHeader>(arrival.mad);
    if (!mad::IsResponse(header.method) &&
        header.method != mad::Method::kReport) {
      std::abort();
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::VirtualTimers timers;
  Fabric fabric(ibemu::testing::Chain(2), timers, {});
  if (!StartSubnetManager(fabric).ok()) std::abort();
  const topology::NodeId host{0};
  Inbox inbox;
  mad::Port& port = fabric.device(host).port(1);
  port.SetListener(&inbox);
  while (size > 1) {
    const uint8_t control = data[0];
    mad::Outgoing packet;
    packet.qp = 1;
    packet.to = {
        .dlid = port.Info().master_sm_lid, .qpn = 1, .qkey = mad::kQp1QKey};
    const size_t length = std::min(size - 1, packet.mad.size() - 3);
    std::memcpy(packet.mad.data() + 3, data + 1, length);
    data += 1 + length;
    size -= 1 + length;
    // What others would be refused for.
    wire::Put<&mad::MadHeader::base_version>(packet.mad, 1);
    wire::Put<&mad::MadHeader::mgmt_class>(
        packet.mad, mad::MgmtClass::kSubnetAdministration);
    wire::Put<&mad::MadHeader::class_version>(packet.mad, mad::kSaClassVersion);
    if ((control & 0x0f) == 0x0f) {
      if (!fabric.SetLink(topology::NodeId{3}, 1, (control & 0x10) != 0).ok()) {
        std::abort();
      }
    }
    if (!port.Transmit(packet).ok()) std::abort();
    timers.RunFor(absl::Milliseconds(control));
  }
  timers.RunFor(absl::Seconds(10));
  port.SetListener(nullptr);
  return 0;
}
