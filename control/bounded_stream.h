// The sending end of a stream that never waits for its reader.
#ifndef IBEMU_CONTROL_BOUNDED_STREAM_H_
#define IBEMU_CONTROL_BOUNDED_STREAM_H_

#include <sys/socket.h>

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/deferred_call.h"
#include "base/unique_fd.h"
#include "control/send_buffer.h"
#include "loop/loop.h"

namespace ibemu::control {

// Returns OK if `fd` is a stream socket of one of the `domains`.  A write to it
// can be told not to wait, whatever the other end does; one to a file or a
// terminal can't.  `method` is the name of the caller's method, for the
// message.
//
// Errors: InvalidArgument.
absl::Status CheckStreamSocket(int fd, std::string_view method,
                               std::initializer_list<int> domains = {AF_UNIX});

// A BoundedStream sends what its owner appends to a buffer of bounded size.
// When the buffer is full, the owner has to drop data, and to count what it
// drops.
class BoundedStream {
 public:
  static constexpr size_t kMaxBuffered = size_t{8} << 20;

  // `loop` must outlive this object.
  BoundedStream(Loop& loop, UniqueFd socket);
  BoundedStream(const BoundedStream&) = delete;
  BoundedStream& operator=(const BoundedStream&) = delete;
  ~BoundedStream();

  // Starts watching the socket.  Calls `enough` when the reader has shut down
  // its sending side, and so asks for the end of the stream.  Calls `ended`
  // when nothing more can be sent; the destructor does not call it.  Neither
  // may destroy this object.
  absl::Status Start(absl::AnyInvocable<void()> enough,
                     absl::AnyInvocable<void()> ended);

  // Returns true if there is no room: nothing may be appended then.
  bool full() const { return buffer_.waiting() > kMaxBuffered; }

  // The buffer to append to.  After that, call one of the functions below.
  std::vector<std::byte>& buffer() { return buffer_.bytes(); }
  void Send();      // at once if there is much, else as SendSoon()
  void SendSoon();  // after the handler, so `ended` comes later, too
  void Finish();    // the rest, then the end of the stream

 private:
  void Flush();
  // Wait() waits until the reader asks for the end or hangs up, WaitForRoom()
  // until the socket is writable.
  absl::Status Wait();
  absl::Status WaitForRoom();
  void OnReadable();
  void End();

  Loop& loop_;
  UniqueFd socket_;
  absl::AnyInvocable<void()> enough_, ended_;
  enum class Wanted { kNothing, kWord, kRoom };
  Wanted waits_for_ = Wanted::kNothing;
  bool finishing_ = false;
  SendBuffer buffer_;
  DeferredCall flush_{loop_, [this] { Flush(); }};
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_BOUNDED_STREAM_H_
