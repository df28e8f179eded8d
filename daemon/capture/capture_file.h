// The conversion of the daemon's stream of ERF records into a capture file.
#ifndef IBEMU_DAEMON_CAPTURE_CAPTURE_FILE_H_
#define IBEMU_DAEMON_CAPTURE_CAPTURE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "daemon/capture/packet_file.h"

namespace ibemu::daemon {

// A CaptureFile takes the stream as it comes, and converts whole records.
class CaptureFile {
 public:
  // Takes `most` packets and no more.  `format` must outlive this object.
  CaptureFile(PacketFile& format, uint64_t most)
      : format_(format), most_(most) {}

  // Takes the next bytes of the stream.  Appends the packets that are complete
  // to `file`, and keeps the rest for the next call.
  //
  // Errors: DataLoss if the bytes are no ERF records.
  absl::Status Add(std::span<const std::byte> stream,
                   std::vector<std::byte>& file);

  uint64_t packets() const { return packets_; }
  uint64_t lost() const { return lost_; }
  bool full() const { return packets_ == most_; }
  // Returns true after the daemon's last record, which says how many packets it
  // has lost.
  bool ended() const { return ended_; }

 private:
  PacketFile& format_;
  const uint64_t most_;
  std::vector<std::byte> rest_;  // less than a record
  uint64_t packets_ = 0, lost_ = 0;
  bool ended_ = false;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CAPTURE_CAPTURE_FILE_H_
