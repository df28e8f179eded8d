// LinkCapture: a capture of the packets that cross links.
#ifndef IBEMU_DAEMON_CAPTURE_LINK_CAPTURE_H_
#define IBEMU_DAEMON_CAPTURE_LINK_CAPTURE_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "daemon/capture/capture_stream.h"
#include "fabric/fabric.h"
#include "fabric/forwarding/packet_tap.h"
#include "fabric/subnet/node.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A LinkCapture sends each packet when it leaves a port, with the name of that
// port.
class LinkCapture final : public fabric::PacketTap {
 public:
  using Ports = absl::flat_hash_set<fabric::PortId>;

  // Captures the links of `ports`; all links if it is empty.  `loop` and
  // `fabric` must outlive this object.
  LinkCapture(Loop& loop, fabric::Fabric& fabric, Ports ports, UniqueFd socket,
              CaptureStream::Options options);
  LinkCapture(const LinkCapture&) = delete;
  LinkCapture& operator=(const LinkCapture&) = delete;
  ~LinkCapture();

  absl::Status Start();

  void OnCrossing(fabric::PortId from, fabric::PortId to, uint8_t vl,
                  const fabric::Packet& packet) override;

 private:
  void StopListening();

  fabric::Fabric& fabric_;
  const Ports ports_;
  CaptureStream stream_;
  bool listening_ = false;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_LINK_CAPTURE_H_
