// One reader of what crosses the links.
#ifndef IBEMU_DAEMON_CAPTURE_CAPTURE_H_
#define IBEMU_DAEMON_CAPTURE_CAPTURE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "control/bounded_stream.h"
#include "fabric/fabric.h"
#include "fabric/forwarding/packet_tap.h"
#include "fabric/subnet/node.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// Sends packets as ERF records through a stream socket, and never waits: what
// does not fit into the buffer is lost, and the next record says how many were.
// When the reader shuts down its sending side, it gets what is in the buffer, a
// record of type kPad, and the end of the stream.
class Capture final : public fabric::PacketTap {
 public:
  struct Options {
    absl::flat_hash_set<fabric::PortId> ports = {};  // their links; empty: all
    bool tell_ports = false;  // through which each packet leaves
    // What makes the loop's time the time of day.
    absl::Duration wall_clock = absl::ZeroDuration();
  };

  // Loop and fabric must outlive this.
  Capture(Loop& loop, fabric::Fabric& fabric, UniqueFd socket, Options options);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  absl::Status Start();

  void OnCrossing(fabric::PortId from, fabric::PortId to, uint8_t vl,
                  const fabric::Packet& packet) override;

 private:
  void Finish();
  void StopListening();
  // Takes `lost_` along, as far as it fits.
  void AddHeader(uint8_t type, size_t packet_length);
  // That what follows leaves through `port`, if that was not so before.
  void TellPort(fabric::PortId port, fabric::PortId peer);

  Loop& loop_;
  fabric::Fabric& fabric_;
  control::BoundedStream stream_;
  const Options options_;
  fabric::PortId last_port_ = fabric::kNoPort;
  absl::flat_hash_set<fabric::PortId> named_ports_;
  bool listening_ = false;
  uint64_t lost_ = 0;  // since the last record
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_CAPTURE_H_
