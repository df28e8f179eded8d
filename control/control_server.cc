#include "control/control_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "control/peer.h"
#include "control/rpc.h"

namespace ibemu::control {

class ControlServer::Connection : public Caller {
 public:
  Connection(ControlServer& server, UniqueFd socket,
             std::function<void()> ended)
      : server_(server), socket_(std::move(socket)), ended_(std::move(ended)) {}

  ~Connection() override {
    server_.loop_.Forget(socket_.get());
    kept_.clear();
    if (ended_) ended_();
  }

  // Drops `ended_`: used when the server itself ends, as nobody is told then.
  void ForgetOwner() { ended_ = nullptr; }

  // Sends the greeting, or the reason for a refusal.
  void Start() {
    const absl::StatusOr<pid_t> peer = CheckPeer(socket_.get());
    if (!peer.ok()) return RefuseAndEnd(peer.status());
    if (server_.connections_.size() > kMaxConnections) {
      return RefuseAndEnd(absl::ResourceExhaustedError(absl::StrFormat(
          "the daemon has %d connections already", kMaxConnections)));
    }
    pid_ = *peer;
    output_ = server_.greeting_ + "\n";
    Flush();
  }

  void AnnounceEnd() {
    if (gone_ || !output_.empty()) return;
    const std::string line = std::string(kEndingLine) + "\n";
    send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  UniqueFd TakeDescriptor() override { return std::move(descriptor_); }
  int pid() const override { return pid_; }
  void Keep(std::shared_ptr<void> thing) override {
    kept_.push_back(std::move(thing));
  }

 private:
  // Ends the connection.  The object lives until the current handler has
  // returned.
  void End() {
    if (gone_) return;
    gone_ = true;
    server_.loop_.Forget(socket_.get());
    server_.loop_.RunSoon([this] { server_.Remove(this); });
  }

  void RefuseAndEnd(const absl::Status& status) {
    ending_ = true;
    output_ += RefuseRequest(status) + "\n";
    Flush();
  }

  // Sends what is pending and then waits for either room or requests.
  void Flush() {
    while (!output_.empty()) {
      const ssize_t sent = send(socket_.get(), output_.data(), output_.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return WaitForRoom();
      if (sent < 0) return End();
      output_.erase(0, static_cast<size_t>(sent));
    }
    output_.shrink_to_fit();
    if (ending_) return End();
    WaitForRequests();
  }

  void WaitForRoom() {
    if (waits_for_ == Wanted::kRoom) return;
    waits_for_ = Wanted::kRoom;
    server_.loop_.Forget(socket_.get());
    const absl::Status watched =
        server_.loop_.WatchWritable(socket_.get(), [this] { OnRoom(); });
    if (!watched.ok()) End();
  }

  void WaitForRequests() {
    if (waits_for_ == Wanted::kRequests) return;
    waits_for_ = Wanted::kRequests;
    server_.loop_.Forget(socket_.get());
    const absl::Status watched =
        server_.loop_.Watch(socket_.get(), [this] { OnReadable(); });
    if (!watched.ok()) End();
  }

  void OnRoom() {
    // If several requests arrived together, the rest of them had to wait.
    Flush();
    if (!gone_) HandleLines();
  }

  void OnReadable() {
    switch (Receive()) {
      case Received::kBytes:
        return HandleLines();
      case Received::kNothing:
        return;
      case Received::kEnd:
        return End();
    }
  }

  enum class Received { kBytes, kNothing, kEnd };
  Received Receive() {
    std::array<char, size_t{16} * 1024> buffer;
    // There is room for one descriptor: the kernel closes those that do not
    // fit.
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
    iovec data{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size =
        recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0) {
      return errno == EAGAIN || errno == EINTR ? Received::kNothing
                                               : Received::kEnd;
    }
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET &&
        header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len >= CMSG_LEN(sizeof(int))) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      descriptor_.Reset(fd);
    }
    if (size == 0) return Received::kEnd;
    input_.append(buffer.data(), static_cast<size_t>(size));
    return Received::kBytes;
  }

  // Handles one request at a time: the next one only when the response to the
  // last has been sent.
  void HandleLines() {
    while (output_.empty()) {
      const size_t end = input_.find('\n', searched_);
      if (end == std::string::npos) {
        searched_ = input_.size();
        if (input_.size() > kLongestLine) {
          input_.clear();
          RefuseAndEnd(absl::ResourceExhaustedError(
              absl::StrFormat("a line may have %d bytes", kLongestLine)));
        }
        return;
      }
      output_ = server_.dispatcher_.Handle(
          std::string_view(input_).substr(0, end), *this);
      input_.erase(0, end + 1);
      searched_ = 0;
      if (output_.empty()) continue;
      output_ += '\n';
      Flush();
      if (gone_) return;
    }
  }

  ControlServer& server_;
  UniqueFd socket_;
  std::function<void()> ended_;
  int pid_ = 0;

  enum class Wanted { kNothing, kRequests, kRoom };
  Wanted waits_for_ = Wanted::kNothing;
  bool ending_ = false;  // ends when output_ has been sent
  bool gone_ = false;

  std::string input_;
  size_t searched_ = 0;  // that many bytes of input_ hold no newline
  std::string output_;
  UniqueFd descriptor_;
  std::vector<std::shared_ptr<void>> kept_;
};

ControlServer::ControlServer(Loop& loop, const MethodTable& dispatcher,
                             std::string greeting)
    : loop_(loop), dispatcher_(dispatcher), greeting_(std::move(greeting)) {}

ControlServer::~ControlServer() {
  for (const auto& connection : connections_) connection->ForgetOwner();
}

absl::Status ControlServer::Listen(int socket) {
  acceptor_.emplace(loop_, std::vector<int>{socket},
                    [this](UniqueFd accepted, const sockaddr_storage&) {
                      Adopt(std::move(accepted), nullptr);
                    });
  return acceptor_->Start();
}

void ControlServer::Adopt(UniqueFd socket, std::function<void()> ended) {
  connections_.push_back(
      std::make_unique<Connection>(*this, std::move(socket), std::move(ended)));
  connections_.back()->Start();
}

void ControlServer::AnnounceEnd() {
  for (const auto& connection : connections_) connection->AnnounceEnd();
}

void ControlServer::Remove(Connection* connection) {
  connections_.remove_if(
      [&](const auto& candidate) { return candidate.get() == connection; });
}

}  // namespace ibemu::control
