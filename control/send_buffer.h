// SendBuffer: bytes that wait until a socket takes them.
#ifndef IBEMU_CONTROL_SEND_BUFFER_H_
#define IBEMU_CONTROL_SEND_BUFFER_H_

#include <cstddef>
#include <vector>

namespace ibemu::control {

// A SendBuffer keeps bytes until a stream socket has taken them.  It has no
// bound of its own: its owner looks at waiting() before it appends.
class SendBuffer {
 public:
  enum class Outcome {
    kAllSent,
    kNoRoom,  // in the socket, for now
    kLost,    // nobody reads there any more; what waited is dropped
  };

  // To append to.
  std::vector<std::byte>& bytes() { return bytes_; }
  // Bytes that have not been sent.
  size_t waiting() const { return bytes_.size() - sent_; }
  // Bytes that are kept, those that were sent lately included: twice those that
  // wait, at most, after a Send().
  size_t size() const { return bytes_.size(); }

  // Sends as much as the socket takes, without waiting.
  Outcome Send(int socket);
  // Drops what waits, and gives the memory back.
  void Clear();

 private:
  std::vector<std::byte> bytes_;
  size_t sent_ = 0;  // at the front
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_SEND_BUFFER_H_
