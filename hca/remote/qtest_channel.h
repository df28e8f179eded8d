// QtestChannel: QEMU's test protocol, by which a device outside QEMU reaches
// its machine.
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
// answered by a line.  QEMU's main loop serves it; that loop is free while a
// virtual CPU waits for the device.
class QtestChannel {
 public:
  // `socket`: this process's end of a stream socket.
  explicit QtestChannel(UniqueFd socket);

  // A descriptor that is readable when OnReadable() has something to do.
  int fd() const { return socket_.get(); }

  // Writes 4 bytes to a bus address, without waiting for the answer.
  //
  // Errors: Unavailable (EPIPE) if QEMU has closed its end; ResourceExhausted
  // (ENOBUFS) if QEMU has read nothing for long.
  absl::Status Write32(uint64_t address, uint32_t value);

  // Read registers of the machine (8 or 4 bytes), after all writes, and wait
  // for the answer.
  //
  // Errors: Unavailable as above; DeadlineExceeded (ETIMEDOUT) after two
  // seconds; InvalidArgument (EPROTO) for an answer that QEMU does not give.
  absl::StatusOr<uint64_t> Read64(uint64_t address);
  absl::StatusOr<uint32_t> Read32(uint64_t address);

  // Receives answers, and sends what had to wait.
  //
  // Errors: Unavailable and InvalidArgument as above.
  absl::Status OnReadable();

 private:
  absl::StatusOr<uint64_t> Read(const char* command, uint64_t address);
  absl::Status Send(const std::string& line);
  absl::Status Flush();
  // Calls recv(2) once.  Returns false if there is nothing to read.
  absl::StatusOr<bool> Receive();
  // Handles one complete line that was received.  Errors: InvalidArgument.
  absl::Status OnLine(const std::string& line);

  UniqueFd socket_;
  std::string out_;  // not yet sent
  std::string in_;   // an incomplete line
  // The commands that have no answer yet, oldest first: true if a caller waits
  // for the answer.
  std::deque<bool> unanswered_;
  std::string answer_;  // to the last command whose caller waits
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_QTEST_CHANNEL_H_
