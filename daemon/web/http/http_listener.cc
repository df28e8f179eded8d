#include "daemon/web/http/http_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "daemon/web/http/request_reader.h"

namespace ibemu::daemon {
namespace {

constexpr int kTimeout = 408;

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

absl::StatusOr<SocketAddress> ParseAddress(const std::string& host,
                                           uint16_t port) {
  SocketAddress address{};
  if (inet_pton(AF_INET, host.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
    return address;
  }
  address = {};
  if (inet_pton(AF_INET6, host.c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
    return address;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(host, ": not a numeric address"));
}

socklen_t SizeOf(const SocketAddress& address) {
  return address.any.sa_family == AF_INET ? sizeof address.v4
                                          : sizeof address.v6;
}

// Returns the port that a socket got.
uint16_t PortOf(int socket, SocketAddress address) {
  socklen_t size = sizeof address;
  if (getsockname(socket, &address.any, &size) != 0) return 0;
  // Both kinds of addresses have the port at the same place.
  return ntohs(address.v4.sin_port);
}

std::string_view Reason(int status) {
  switch (status) {
    case kTimeout:
      return "the request took too long\n";
    case 413:
      return "the body of a request may have 16384 bytes\n";
    case 431:
      return "the head of a request may have 16384 bytes\n";
    default:
      return "the length of the request is wrong\n";
  }
}

}  // namespace

void SendRefusal(int socket, int status, std::string_view text) {
  const std::string answer = absl::StrFormat(
      "HTTP/1.1 %d Refused\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
      status, text.size(), text);
  (void)!send(socket, answer.data(), answer.size(),
              MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(socket, SHUT_WR);
}

// The connections of requests that are under way; the oldest first, so that the
// first one's deadline is the next.
class HttpListener::Connections {
 public:
  Connections(absl::Duration patience, std::function<void(HttpRequest)> serve)
      : patience_(patience), serve_(std::move(serve)) {}

  // Waits for any of them, for the two other descriptors, or for a deadline.
  // Returns false if `ending` is readable.
  bool Wait(int listening, int ending) {
    const absl::Time now = absl::Now();
    // While there are no free descriptors, accept() would fail again at once.
    const bool accepts = now >= accepts_from_;
    polled_.clear();
    polled_.push_back({ending, POLLIN, 0});
    polled_.push_back({accepts ? listening : -1, POLLIN, 0});
    for (const Connection& connection : connections_) {
      polled_.push_back({connection.socket.get(), POLLIN, 0});
    }
    absl::Time until = accepts ? absl::InfiniteFuture() : accepts_from_;
    if (!connections_.empty()) {
      until = std::min(until, connections_.front().deadline);
    }
    poll(polled_.data(), polled_.size(), Milliseconds(until - now));
    return polled_[0].revents == 0;
  }

  // Reads what has come, and ends what took too long.
  void Read() {
    size_t i = 2;
    for (auto it = connections_.begin(); it != connections_.end(); ++i) {
      const auto connection = it++;
      if (polled_[i].revents != 0) Read(connection);
    }
    const absl::Time now = absl::Now();
    while (!connections_.empty() && connections_.front().deadline <= now) {
      Connection& late = connections_.front();
      if (!late.reader.text().empty()) {
        SendRefusal(late.socket.get(), kTimeout, Reason(kTimeout));
      }
      connections_.pop_front();
    }
  }

  void Accept(int listening) {
    if (polled_[1].revents == 0) return;
    UniqueFd accepted(
        accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!accepted.valid()) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
          errno == ENOBUFS) {
        accepts_from_ = absl::Now() + absl::Seconds(1);
      }
      return;
    }
    if (connections_.size() == kMaxConnections) connections_.pop_front();
    connections_.push_back({.socket = std::move(accepted),
                            .deadline = absl::Now() + patience_,
                            .reader = {}});
  }

 private:
  struct Connection {
    UniqueFd socket;
    absl::Time deadline;
    RequestReader reader;
  };
  using Iterator = std::list<Connection>::iterator;

  // Returns what poll() takes: rounded up, so that the deadline is over then.
  static int Milliseconds(absl::Duration left) {
    if (left == absl::InfiniteDuration()) return -1;
    constexpr absl::Duration kLongest = absl::Hours(1);
    return static_cast<int>(absl::ToInt64Milliseconds(
        absl::Ceil(std::clamp(left, absl::ZeroDuration(), kLongest),
                   absl::Milliseconds(1))));
  }

  void Read(Iterator it) {
    std::array<char, size_t{16} << 10> buffer;
    const ssize_t size =
        recv(it->socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      connections_.erase(it);
      return;
    }
    // After a refusal the rest is read, too: closing a connection with unread
    // bytes would keep the answer from arriving.
    if (it->reader.state() == RequestReader::State::kRefused) return;
    switch (it->reader.Add({buffer.data(), static_cast<size_t>(size)})) {
      case RequestReader::State::kUnfinished:
        return;
      case RequestReader::State::kRefused:
        SendRefusal(it->socket.get(), it->reader.status(),
                    Reason(it->reader.status()));
        return;
      case RequestReader::State::kComplete: {
        HttpRequest request{.socket = std::move(it->socket),
                            .text = {},
                            .target = std::string(it->reader.Target())};
        request.text = it->reader.Take();
        connections_.erase(it);
        serve_(std::move(request));
      }
    }
  }

  const absl::Duration patience_;
  const std::function<void(HttpRequest)> serve_;
  std::list<Connection> connections_;
  std::vector<pollfd> polled_;  // ending, listening, and each connection
  absl::Time accepts_from_ = absl::InfinitePast();
};

absl::StatusOr<std::unique_ptr<HttpListener>> HttpListener::Bind(
    const std::string& host, uint16_t port, absl::Duration patience) {
  IBEMU_ASSIGN_OR_RETURN(const SocketAddress address, ParseAddress(host, port));
  UniqueFd listening(socket(address.any.sa_family,
                            SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  UniqueFd ending(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // No SO_REUSEPORT: it would let another process take the port, too.
  const int yes = 1;
  if (!listening.valid() || !ending.valid() ||
      setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) !=
          0 ||
      bind(listening.get(), &address.any, SizeOf(address)) != 0 ||
      listen(listening.get(), SOMAXCONN) != 0) {
    return absl::ErrnoToStatus(errno, "");
  }
  port = PortOf(listening.get(), address);
  return std::unique_ptr<HttpListener>(new HttpListener(
      std::move(listening), std::move(ending), port, patience));
}

HttpListener::HttpListener(UniqueFd listening, UniqueFd ending, uint16_t port,
                           absl::Duration patience)
    : listening_(std::move(listening)),
      ending_(std::move(ending)),
      port_(port),
      patience_(patience) {}

HttpListener::~HttpListener() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(ending_.get(), &one, sizeof one);
  thread_.join();
}

void HttpListener::Start(std::function<void(HttpRequest)> serve) {
  thread_ = std::thread([this, serve = std::move(serve)]() mutable {
    Connections connections(patience_, std::move(serve));
    while (connections.Wait(listening_.get(), ending_.get())) {
      connections.Read();
      connections.Accept(listening_.get());
    }
  });
}

}  // namespace ibemu::daemon
