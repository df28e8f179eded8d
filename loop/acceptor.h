// Acceptor: a taker of connections that come in at listening sockets.
#ifndef IBEMU_LOOP_ACCEPTOR_H_
#define IBEMU_LOOP_ACCEPTOR_H_

#include <sys/socket.h>

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "loop/loop.h"

namespace ibemu {

// An Acceptor hands over each connection that comes in at one of several
// listening sockets.  While it can't, for want of descriptors or memory, it
// pauses: who comes meanwhile waits in the kernel, and the loop does not spin.
class Acceptor {
 public:
  static constexpr absl::Duration kPause = absl::Milliseconds(100);

  // `from`: the address of the other end.
  using Take =
      std::function<void(UniqueFd socket, const sockaddr_storage& from)>;

  // `listening`: stay their owner's.  They and `loop` must outlive this.
  Acceptor(Loop& loop, std::vector<int> listening, Take take)
      : loop_(loop), listening_(std::move(listening)), take_(std::move(take)) {}
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Makes the sockets non-blocking ones, and begins.  The connections are
  // non-blocking, too.
  //
  // Errors: those of Loop::Watch().
  absl::Status Start();

  // Takes none for a while.  `take` may call it, for want of what is needed
  // next.
  void Pause();

 private:
  absl::Status Listen();
  void Forget();
  void OnConnection(int listening);

  Loop& loop_;
  const std::vector<int> listening_;
  const Take take_;
  bool listens_ = false;
  TimerId listens_again_ = TimerId::kNone;
};

}  // namespace ibemu

#endif  // IBEMU_LOOP_ACCEPTOR_H_
