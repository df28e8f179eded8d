// A node link that goes on to another machine: a socket here, a stream there.
#ifndef IBEMU_PEERS_NODE_LINK_CARRIER_H_
#define IBEMU_PEERS_NODE_LINK_CARRIER_H_

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/unique_fd.h"

namespace ibemu::peers {

// The most bytes of one message.
inline constexpr size_t kMaxAtOnce = size_t{64} << 10;

// Sends all of `bytes` to a stream socket.  Returns false if nobody reads
// there any more.
inline bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// Returns what there is, as soon as there is something; "" at the end.
inline std::string ReceiveSome(int socket) {
  std::string bytes(kMaxAtOnce, '\0');
  while (true) {
    const ssize_t count = recv(socket, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return bytes;
  }
}

// Carries bytes both ways between `socket`, a unix stream socket, and `stream`,
// of gRPC, until either ends; `cancel` ends the stream.  It holds one message
// of each direction, so whoever does not read makes the other end wait, however
// far it is.  `Out` and `In` are what the stream takes and gives, and have
// "data".  Calls `heard` when the first message has come from the stream, and
// `take` with each that has no data: it returns false if nobody may say that.
// Needs a thread: without one, both end at once.
//
// The calls of gRPC that wait do so on the connection itself.  Those that call
// back have a message pass through four threads, each to be woken: three times
// the round trip where processors are few.
template <class Out, class In, class Stream, class Cancel>
void CarryNodeLink(
    UniqueFd socket, Stream& stream, const Cancel& cancel,
    const std::function<void()>& heard = [] {},
    const std::function<bool(const In&)>& take =
        [](const In&) { return false; }) {
  const auto carry_out = [&] {
    Out message;
    while (true) {
      std::string bytes = ReceiveSome(socket.get());
      if (bytes.empty()) break;
      message.set_data(std::move(bytes));
      if (!stream.Write(message)) break;
    }
    shutdown(socket.get(), SHUT_RDWR);  // ends what waits there for room
    cancel();
  };
  std::thread outward;
  try {
    outward = std::thread(carry_out);
  } catch (const std::system_error&) {
    return cancel();
  }
  In message;
  // A peer that sends anything else, or more than was agreed, is none.
  bool first = true;
  while (stream.Read(&message) &&
         (message.has_data() ? message.data().size() <= kMaxAtOnce &&
                                   SendAll(socket.get(), message.data())
                             : take(message))) {
    if (std::exchange(first, false)) heard();
  }
  cancel();
  shutdown(socket.get(), SHUT_RDWR);  // wakes the thread
  outward.join();
}

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_NODE_LINK_CARRIER_H_
