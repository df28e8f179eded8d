#include "control/client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/did_you_mean.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "control/json_text.h"
#include "control/rpc.h"
#include "control/socket_path.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {
namespace {

using nlohmann::json;

absl::Status Gone() {
  return absl::UnavailableError("the daemon has gone away");
}

// Returns the error for a path where no daemon listens.  It suggests names as
// people type them: "NAME" for ".../NAME.sock".
absl::Status NobodyListens(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path socket(path);
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(socket.parent_path(), error)) {
    if (entry.path().extension() == ".sock")
      names.push_back(entry.path().stem());
  }
  DidYouMean guess(socket.stem().native());
  for (const std::string& name : names) guess.Offer(name);
  std::string question = guess.Question();
  if (guess.best() == socket.stem().native())
    question.clear();  // a dead daemon's socket
  if (question.empty()) {
    const std::string of_root =
        absl::StrCat("/run/ibemu/", socket.filename().native());
    question = path != of_root && fs::exists(of_root, error)
                   ? absl::StrCat(": ", of_root,
                                  " is root's, so ask as root, "
                                  "or start one of yours with \"ibemud\"")
                   : ": start one with \"ibemud\"";
  }
  return absl::NotFoundError(
      absl::StrCat(path, ": no daemon listens there", question));
}

absl::Status NoAnswer() {
  return absl::DeadlineExceededError("the daemon does not answer");
}

void SetPatience(int socket, absl::Duration patience) {
  if (patience == absl::InfiniteDuration()) return;
  const timeval time = absl::ToTimeval(patience);
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    setsockopt(socket, SOL_SOCKET, direction, &time, sizeof time);
  }
}

absl::StatusOr<UniqueFd> ConnectTo(const std::string& path,
                                   absl::Duration patience) {
  UniqueFd connected(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connected.valid()) return absl::ErrnoToStatus(errno, "socket");
  SetPatience(connected.get(), patience);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(connected.get(), reinterpret_cast<sockaddr*>(&address),
              sizeof address) == 0) {
    return connected;
  }
  if (errno == EAGAIN) return NoAnswer();
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR) {
    return NobodyListens(path);
  }
  if (errno == EACCES || errno == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(path,
                     ": that daemon is another user's: ask as that user, "
                     "or start one of yours with \"ibemud\""));
  }
  return absl::ErrnoToStatus(errno, path);
}

// Makes sure that the daemon is this user's own: another user might listen at a
// name below /tmp.
absl::Status CheckOwner(int socket, const std::string& path) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return absl::ErrnoToStatus(errno, path);
  }
  if (peer.uid == geteuid()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(path, ": that daemon is user ", peer.uid, "'s, not yours"));
}

json ParametersOf(const NetworkPort& port) {
  json parameters = {{"node", port.node}, {"port", port.port}};
  if (!port.partition.empty()) parameters["partition"] = port.partition;
  if (!port.ethernet.empty()) parameters["ethernet"] = port.ethernet;
  return parameters;
}

AttachedNetwork NetworkOf(const json& result) {
  return {.addresses = result.value("addresses", std::vector<std::string>()),
          .mac = result.value("mac", ""),
          .mtu = result.value("mtu", 0),
          .waits = result.value("waits", false)};
}

}  // namespace

struct Client::Impl {
  UniqueFd socket;
  std::string input;
  Greeting greeting;
  int64_t last_id = 0;

  absl::Status Send(std::string_view line, int fd) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    while (!line.empty()) {
      iovec data{const_cast<char*>(line.data()), line.size()};
      msghdr message{};
      message.msg_iov = &data;
      message.msg_iovlen = 1;
      if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
      }
      const ssize_t sent = sendmsg(socket.get(), &message, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return NoAnswer();
      if (sent < 0) return Gone();
      line.remove_prefix(static_cast<size_t>(sent));
      fd = -1;  // the descriptor went with the first byte
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Receive() {
    size_t searched = 0;
    while (true) {
      const size_t end = input.find('\n', searched);
      if (end != std::string::npos) {
        std::string line = input.substr(0, end);
        input.erase(0, end + 1);
        return line;
      }
      searched = input.size();
      std::array<char, size_t{64} * 1024> buffer;
      const ssize_t size = recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return NoAnswer();
      if (size <= 0) return Gone();
      input.append(buffer.data(), static_cast<size_t>(size));
    }
  }

  absl::StatusOr<json> Call(std::string_view method, const json& parameters,
                            int fd) {
    const std::string request = Dump({{"jsonrpc", "2.0"},
                                      {"id", ++last_id},
                                      {"method", method},
                                      {"params", parameters}});
    IBEMU_RETURN_IF_ERROR(Send(request + "\n", fd));
    IBEMU_ASSIGN_OR_RETURN(const std::string line, Receive());
    if (line == kEndingLine) return Gone();
    return ReadResponse(line);
  }

  bool WasAskedToEnd() {
    std::array<char, 256> buffer;
    const ssize_t size =
        recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size <= 0) return false;
    input.append(buffer.data(), static_cast<size_t>(size));
    return input.substr(0, input.find('\n')) == kEndingLine;
  }

  absl::Status ReadGreeting() {
    IBEMU_ASSIGN_OR_RETURN(const std::string line, Receive());
    const absl::StatusOr<json> parsed = ParseJson(line);
    if (!parsed.ok() || !parsed->is_object() ||
        parsed->value("method", "") != "greeting") {
      // An error in place of the greeting says why we are not served.
      const absl::Status refusal = ReadResponse(line).status();
      return refusal.ok() ? absl::UnavailableError("it is no ibemu daemon")
                          : refusal;
    }
    const json& hello = (*parsed)["params"];
    if (hello.value("protocol", "") != kProtocol) {
      return absl::UnavailableError("the daemon speaks another protocol");
    }
    greeting.version = hello.value("version", "");
    greeting.socket = hello.value("socket", "");
    greeting.seed = hello.value("seed", uint64_t{0});
    greeting.backend = hello.value("backend", "");
    greeting.pid = hello.value("pid", 0);
    greeting.capabilities =
        hello.value("capabilities", std::vector<std::string>());
    return absl::OkStatus();
  }
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&& other) noexcept = default;
Client& Client::operator=(Client&& other) noexcept = default;
Client::~Client() = default;

absl::StatusOr<Client> Client::Connect(std::string_view fabric,
                                       absl::Duration patience) {
  IBEMU_ASSIGN_OR_RETURN(const std::string path, SocketPath(fabric));
  IBEMU_ASSIGN_OR_RETURN(UniqueFd connected, ConnectTo(path, patience));
  IBEMU_RETURN_IF_ERROR(CheckOwner(connected.get(), path));
  return Adopt(connected.Release());
}

absl::StatusOr<Client> Client::Adopt(int fd, absl::Duration patience) {
  SetPatience(fd, patience);
  auto impl = std::make_unique<Impl>();
  impl->socket.Reset(fd);
  IBEMU_RETURN_IF_ERROR(impl->ReadGreeting());
  return Client(std::move(impl));
}

const Greeting& Client::greeting() const { return impl_->greeting; }

int Client::fd() const { return impl_->socket.get(); }

bool Client::WasAskedToEnd() { return impl_->WasAskedToEnd(); }

absl::StatusOr<json> Client::Call(std::string_view method,
                                  const json& parameters) {
  return impl_->Call(method, parameters, -1);
}

absl::StatusOr<Attached> Client::Attach(int fuse_fd,
                                        const AttachRequest& request) {
  const json parameters = {{"hosts", request.hosts},
                           {"device_name", request.device_name},
                           {"profile", request.profile}};
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         impl_->Call("attach", parameters, fuse_fd));
  Attached attached;
  for (const json& device : result.value("devices", json::array())) {
    attached.devices.push_back(
        {.name = device.value("name", ""),
         .node = device.value("node", ""),
         .node_guid = device.value("node_guid", ""),
         .umads = device.value("umads", std::vector<int>())});
  }
  for (const json& name : result.value("names", json::array())) {
    attached.names.push_back({.address = name.value("address", ""),
                              .node = name.value("node", ""),
                              .partition = name.value("partition", ""),
                              .ethernet = name.value("ethernet", "")});
  }
  return attached;
}

absl::StatusOr<std::vector<NetworkPort>> Client::NetworkPorts(
    const std::vector<std::string>& hosts,
    const std::vector<std::string>& partitions,
    const std::vector<std::string>& switches) {
  json parameters = {{"hosts", hosts}};
  // A daemon of an older version has no such parameters.
  if (!partitions.empty()) parameters["partitions"] = partitions;
  if (!switches.empty()) parameters["ethernet"] = switches;
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         impl_->Call("network.ports", parameters, -1));
  std::vector<NetworkPort> ports;
  for (const json& port : result) {
    ports.push_back({.node = port.value("node", ""),
                     .port = port.value("port", 0),
                     .partition = port.value("partition", ""),
                     .ethernet = port.value("ethernet", "")});
  }
  return ports;
}

absl::StatusOr<AttachedNetwork> Client::AttachNetwork(int tun_fd,
                                                      const NetworkPort& port,
                                                      bool connected) {
  json parameters = ParametersOf(port);
  // A daemon of an older version has no such parameter.
  if (connected) parameters["connected"] = true;
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         impl_->Call("network.attach", parameters, tun_fd));
  return NetworkOf(result);
}

absl::StatusOr<AttachedNetwork> Client::ShowNetwork(const NetworkPort& port) {
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         impl_->Call("network.show", ParametersOf(port), -1));
  return NetworkOf(result);
}

absl::Status Client::CallWith(std::string_view method, const json& parameters,
                              int fd) {
  return impl_->Call(method, parameters, fd).status();
}

absl::StatusOr<UniqueFd> Client::OpenStream(std::string_view method,
                                            const json& parameters) {
  IBEMU_ASSIGN_OR_RETURN(SocketPair stream, MakeSocketPair());
  IBEMU_RETURN_IF_ERROR(
      impl_->Call(method, parameters, stream.theirs.get()).status());
  return std::move(stream.ours);
}

}  // namespace ibemu::control
