// One capture of packets, on the daemon's side.
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

// A Capture sends the packets that cross links as ERF records through a stream
// socket.  It never waits: a packet that does not fit into the buffer is lost,
// and the next record says how many were.  When the reader shuts down its
// sending side, it gets the rest of the buffer, a record of type kPad, and the
// end of the stream.
class Capture final : public fabric::PacketTap {
 public:
  struct Options {
    absl::flat_hash_set<fabric::PortId> ports =
        {};                   // only their links; if empty, all links
    bool tell_ports = false;  // tell the port that each packet leaves
    // The difference between the time of day and the loop's time.
    absl::Duration wall_clock = absl::ZeroDuration();
  };

  // `loop` and `fabric` must outlive this object.
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
  // Appends the header of a record, with `lost_` packets as far as its field
  // can tell (16 bits); the rest stays in `lost_`.
  void AddHeader(uint8_t type, size_t packet_length);
  // Appends a kPort record if `port` is not the one that the last packet left
  // through.
  void TellPort(fabric::PortId port, fabric::PortId peer);

  Loop& loop_;
  fabric::Fabric& fabric_;
  control::BoundedStream stream_;
  const Options options_;
  fabric::PortId last_port_ = fabric::kNoPort;
  absl::flat_hash_set<fabric::PortId> named_ports_;
  bool listening_ = false;
  uint64_t lost_ = 0;  // packets, since the last record
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_CAPTURE_H_
