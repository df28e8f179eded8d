// CaptureStream: the daemon's end of a capture.
#ifndef IBEMU_DAEMON_CAPTURE_CAPTURE_STREAM_H_
#define IBEMU_DAEMON_CAPTURE_CAPTURE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "control/bounded_stream.h"
#include "daemon/capture/capture_format.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// The names of the port that a packet leaves or reaches.
struct PortNames {
  std::string own;   // "sw1/3"
  std::string peer;  // of the port at the other end of its cable; may be empty
};

// A CaptureStream sends packets as ERF records through a stream socket.  It
// never waits: a packet that does not fit into the buffer is lost, and the next
// record says how many were.  When the reader shuts down its sending side, it
// gets the rest of the buffer, a record of type kPad, and the end of the
// stream.
class CaptureStream {
 public:
  struct Options {
    bool tell_ports = false;  // tell the port of each packet
    // The difference between the time of day and the loop's time.
    absl::Duration wall_clock = absl::ZeroDuration();
  };

  // `loop` must outlive this object.
  CaptureStream(Loop& loop, UniqueFd socket, Options options);

  // Calls `ended` when the reader has enough or is gone: no packet is sent any
  // more.
  absl::Status Start(std::function<void()> ended);

  // Returns false if the buffer is full: a packet is lost then, and counted.
  // Otherwise the caller makes its bytes, and calls Send().
  bool HasRoom();

  // Sends a packet of the port with the number `port`, whose `names` are asked
  // for once.  Call HasRoom() first.
  void Send(uint32_t port, absl::FunctionRef<PortNames()> names,
            ErfHeader::Direction direction, std::span<const std::byte> packet);

 private:
  void Finish();
  void TellPort(uint32_t port, absl::FunctionRef<PortNames()> names);
  // Appends the header of a record, with `lost_` packets as far as its field
  // can tell (16 bits); the rest stays in `lost_`.
  void AddHeader(uint8_t type, ErfHeader::Direction direction,
                 size_t packet_length);

  Loop& loop_;
  control::BoundedStream stream_;
  const Options options_;
  std::function<void()> ended_;
  int64_t last_port_ = -1;  // -1: none was told
  absl::flat_hash_set<uint32_t> named_ports_;
  uint64_t lost_ = 0;  // packets, since the last record
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_CAPTURE_STREAM_H_
