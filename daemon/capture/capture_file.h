// From the daemon's stream of ERF records to a file.
#ifndef IBEMU_DAEMON_CAPTURE_CAPTURE_FILE_H_
#define IBEMU_DAEMON_CAPTURE_CAPTURE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "daemon/capture/packet_file.h"

namespace ibemu::daemon {

class CaptureFile {
 public:
  // Takes `most` packets, then no more.  `format` must outlive this.
  CaptureFile(PacketFile& format, uint64_t most)
      : format_(format), most_(most) {}

  // Takes the next bytes of the stream.  Appends whole packets to `file`; what
  // is left waits for more.
  //
  // Errors: DataLoss when these are no ERF records.
  absl::Status Add(std::span<const std::byte> stream,
                   std::vector<std::byte>& file);

  uint64_t packets() const { return packets_; }
  uint64_t lost() const { return lost_; }
  bool full() const { return packets_ == most_; }
  // The daemon has said how many it lost at the end: it goes no further.
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
