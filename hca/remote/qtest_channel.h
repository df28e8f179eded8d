// QEMU's test protocol: what a device outside of QEMU reaches its machine by.
#ifndef IBEMU_HCA_REMOTE_QTEST_CHANNEL_H_
#define IBEMU_HCA_REMOTE_QTEST_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::hca::remote {

// The client's side of softmmu/qtest.c of QEMU 7.2: lines of text, each
// answered by a line.  QEMU's main loop serves it, which is free while a
// virtual CPU waits for the device.
class QtestChannel {
 public:
  // `socket`: our end of a stream socket.
  explicit QtestChannel(UniqueFd socket);

  // Readable when OnReadable() has something to do.
  int fd() const { return socket_.get(); }

  // Writes 4 bytes to a bus address, without waiting until it is done.
  //
  // Errors: Unavailable (EPIPE) when QEMU has closed its end; ResourceExhausted
  // (ENOBUFS) when QEMU takes nothing for long.
  absl::Status Write32(uint64_t address, uint32_t value);

  // Reads registers of the machine (8 or 4 bytes), after all writes.  Waits for
  // the answer.
  //
  // Errors: as above; DeadlineExceeded (ETIMEDOUT) after two seconds;
  // InvalidArgument (EPROTO) for an answer that QEMU does not give.
  absl::StatusOr<uint64_t> Read64(uint64_t address);
  absl::StatusOr<uint32_t> Read32(uint64_t address);

  // Takes answers, sends what had to wait.
  //
  // Errors: as above.
  absl::Status OnReadable();

 private:
  absl::StatusOr<uint64_t> Read(const char* command, uint64_t address);
  absl::Status Send(const std::string& line);
  absl::Status Flush();
  // One recv(2).  False: nothing there.
  absl::StatusOr<bool> Receive();
  // One complete line from what was received.  Errors: InvalidArgument.
  absl::Status OnLine(const std::string& line);

  UniqueFd socket_;
  std::string out_;  // not yet sent
  std::string in_;   // the beginning of a line
  // Commands without an answer, oldest first: whether somebody wants it.
  std::deque<bool> unanswered_;
  std::string answer_;  // of the last command that somebody wants one of
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_QTEST_CHANNEL_H_
