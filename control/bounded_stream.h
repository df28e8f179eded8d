// The sending end of a stream whose reader is never waited for.
#ifndef IBEMU_CONTROL_BOUNDED_STREAM_H_
#define IBEMU_CONTROL_BOUNDED_STREAM_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "loop/loop.h"

namespace ibemu::control {

// OK if `fd` is a unix stream socket: only there can a write be told not to
// wait, whatever its other end does.  `method` is for the message.
absl::Status CheckStreamSocket(int fd, std::string_view method);

// What does not fit into the buffer is for the owner to lose, and to count.
class BoundedStream {
 public:
  static constexpr size_t kMaxBuffered = size_t{8} << 20;

  // `loop` must outlive this.
  BoundedStream(Loop& loop, UniqueFd socket);
  BoundedStream(const BoundedStream&) = delete;
  BoundedStream& operator=(const BoundedStream&) = delete;
  ~BoundedStream();

  // `enough`: the reader has shut down its sending side, and waits for the end.
  // `ended`: nothing more can be sent; not called by the destructor.  Neither
  // may destroy this.
  absl::Status Start(absl::AnyInvocable<void()> enough,
                     absl::AnyInvocable<void()> ended);

  // Whether there is no room: append nothing then.
  bool full() const { return buffer_.size() - sent_ > kMaxBuffered; }

  // Append to it, then call one of these.
  std::vector<std::byte>& buffer() { return buffer_; }
  void Send();      // at once if there is much, else at the end of the turn
  void SendSoon();  // at the end of the turn: `ended` is not called before
  void Finish();    // all that there is, then the end of the stream

 private:
  void Flush();
  // For the reader to say that it has enough, or to go.
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
  bool scheduled_ = false;
  std::vector<std::byte> buffer_;
  size_t sent_ = 0;  // of the buffer
  // Tasks that outlive this object look here first.
  std::shared_ptr<BoundedStream*> self_;
};

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_BOUNDED_STREAM_H_
