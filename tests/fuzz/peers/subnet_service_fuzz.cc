// A peer that has a certificate: whatever the messages of its calls hold, each
// call ends with a status, the daemon is asked for nothing but what a peer may
// ask for, and a node link has those bytes that came as its bytes.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/secret.h"
#include "control/client.h"
#include "control/control_server.h"
#include "control/method_table.h"
#include "control/rpc.h"
#include "loop/epoll_loop.h"
#include "nlohmann/json.hpp"
#include "peers/node_link_carrier.h"
#include "peers/node_link_versions.h"
#include "peers/subnet.pb.h"
#include "peers/subnet_service.h"
#include "testing/fuzz_input.h"
#include "testing/socket_pair.h"

namespace ibemu::peers {
namespace {

using nlohmann::json;
using testing::FuzzInput;

void Require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "what line %d requires does not hold\n", line);
  std::abort();
}

constexpr size_t kLongestName = 256;

// What the daemon was asked for, and has heard by a node link.
struct Attachment {
  std::string node, packets, leases;
  UniqueFd socket;
  std::string heard{};
  bool ended = false;
};

// The daemon, on a thread of its own.
class Daemon {
 public:
  Daemon() : loop_(EpollLoop::Create().value()) {
    Add("node.status", [](control::Parameters& parameters) {
      Require(parameters.Text("node", "").size() <= kLongestName);
      return json{{"adapters", {{{"guid", "0x1"}, {"secret", 1}}}}};
    });
    Add("node.names", [](control::Parameters&) {
      return json::array({{{"address", "198.18.0.1"}, {"node", "node-1"}}});
    });
    Add("node_link.free", [](control::Parameters&) {
      return json{"0x1", "0x2"};
    });
    methods_.Add("node_link.attach", [this](control::Parameters& parameters,
                                            control::Caller& caller) {
      return Attach(parameters, caller);
    });
    methods_.Add(
        "node_link.packets",
        [](control::Parameters&, control::Caller&) -> absl::StatusOr<json> {
          Require(false);  // nobody expects it
          return json::object();
        });
    server_ = std::make_unique<control::ControlServer>(
        *loop_, methods_,
        control::GreetingLine({{"capabilities", methods_.names()}}));
    UniqueFd servers;
    std::tie(client_, servers) = testing::SocketPair();
    server_->Adopt(std::move(servers), [] { Require(false); });
    std::thread([this] { loop_->Run(); }).detach();
  }

  control::Client Connect() {
    return control::Client::Adopt(client_.Release()).value();
  }

  void Accept(bool accepts) {
    const std::lock_guard lock(mutex_);
    accepts_ = accepts;
  }
  // What it was asked for since the last time, when the node link has ended.
  std::optional<Attachment> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !attached_ || attached_->ended; });
    return std::exchange(attached_, std::nullopt);
  }

 private:
  void Add(const char* name, json (*answer)(control::Parameters&)) {
    methods_.Add(name,
                 [answer](control::Parameters& parameters,
                          control::Caller&) -> absl::StatusOr<json> {
                   json told = answer(parameters);
                   Require(parameters.Finish().ok());
                   return told;
                 });
  }

  absl::StatusOr<json> Attach(control::Parameters& parameters,
                              control::Caller& caller) {
    const std::lock_guard lock(mutex_);
    Require(!attached_);
    Attachment& asked = attached_.emplace();
    asked.node = parameters.Text("node", "");
    asked.packets = parameters.Text("packets", "");
    asked.leases = parameters.Text("leases", "");
    parameters.Text("peer", "");
    parameters.Flag("trains", false);
    parameters.Flag("encrypts", false);
    Require(parameters.Finish().ok());
    Require(asked.node.size() <= kLongestName);
    Require(asked.packets.empty() ||
            (CheckSecretText(asked.packets).ok() && !asked.leases.empty()));
    asked.socket = caller.TakeDescriptor();
    Require(asked.socket.valid());
    if (!accepts_) {
      asked.ended = true;
      return absl::NotFoundError("no such host");
    }
    Require(loop_->Watch(asked.socket.get(), [this] { Hear(); }).ok());
    return json::object();
  }

  void Hear() {
    const std::lock_guard lock(mutex_);
    const std::string some = ReceiveSome(attached_->socket.get());
    attached_->heard += some;
    if (!some.empty()) return;
    loop_->Forget(attached_->socket.get());
    attached_->socket.Reset();
    attached_->ended = true;
    changed_.notify_all();
  }

  std::unique_ptr<Loop> loop_;
  control::MethodTable methods_;
  std::unique_ptr<control::ControlServer> server_;
  UniqueFd client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool accepts_ = true;                   // guarded by `mutex_`
  std::optional<Attachment> attached_{};  // guarded by `mutex_`
};

// The service, and a peer whose messages are bytes.  It lives as long as the
// process does.
class Scene {
 public:
  Scene()
      : service_(daemon_.Connect(), false, "", waiting_,
                 [](const std::string&) {}) {
    grpc::ServerBuilder builder;
    // No address that could be connected to, for packets.
    const std::string address =
        absl::StrCat("unix-abstract:ibemu-fuzz-", getpid());
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  }

  Daemon& daemon() { return daemon_; }

  grpc::Status Call(const std::string& method,
                    const std::vector<std::string>& messages) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub_->PrepareCall(
        &context, "/ibemu.peers.v1.Subnet/" + method, &queue);
    const auto done = [&queue] {
      void* tag = nullptr;
      bool went_well = false;
      Require(queue.Next(&tag, &went_well));
      return went_well;
    };
    call->StartCall(nullptr);
    bool open = done();
    for (const std::string& message : messages) {
      if (!open) break;
      const grpc::Slice slice(message);
      call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
      open = done();
    }
    if (open) {
      call->WritesDone(nullptr);
      done();
    }
    grpc::ByteBuffer answer;
    do {
      call->Read(&answer, nullptr);
    } while (done());
    grpc::Status status;
    call->Finish(&status, nullptr);
    Require(done());
    queue.Shutdown();
    return status;
  }

 private:
  Daemon daemon_;
  WaitingCalls waiting_;
  SubnetService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::GenericStub> stub_;
};

std::string TextOf(mad::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string SomeMessage(FuzzInput& input) {
  v1::FromAdapter message;
  switch (input.Byte() % 6) {
    case 0: {
      const uint8_t flags = input.Byte();
      v1::Attach& attach = *message.mutable_attach();
      attach.set_node_link_version(flags % 8 == 0 ? input.Byte()
                                                  : kNodeLinkVersions.newest);
      attach.set_oldest_node_link_version(kNodeLinkVersions.oldest);
      std::string node = TextOf(input.Take(input.Byte()));
      if (flags & 0x80) node += node;
      attach.set_node(node);
      attach.set_trains((flags & 0x40) != 0);
      if (flags & 0x20) attach.set_lease_port(input.Short());
      if (flags & 0x10) {
        attach.set_packets_token(
            TextOf(input.Take(flags & 0x08 ? input.Byte() : 16)));
      }
      break;
    }
    case 1:
      message.set_data(TextOf(input.Take(input.Byte())));
      break;
    case 2: {
      const size_t size = size_t{2} * input.Short();
      message.set_data(std::string(size, static_cast<char>(input.Byte())));
      break;
    }
    case 5: {
      const uint8_t flags = input.Byte();
      v1::PacketsAwaited& awaited = *message.mutable_packets_awaited();
      awaited.set_token(TextOf(input.Take(flags % 4 == 0 ? input.Byte() : 16)));
      awaited.set_number(flags / 4);
      break;
    }
    case 3: {
      v1::DescribeHostRequest request;
      request.set_node(TextOf(input.Take(input.Byte())));
      return request.SerializeAsString();
    }
    default:
      return TextOf(input.Take(input.Byte()));
  }
  // What is no UTF-8 is none at the other side either.
  return message.SerializeAsString();
}

// The bytes of the messages that follow an Attach.
std::string BytesOf(const std::vector<std::string>& messages) {
  v1::FromAdapter first;
  Require(first.ParseFromString(messages.at(0)));
  const bool has_port = !first.attach().packets_token().empty();
  std::string all;
  uint32_t last = 1;  // connection of packets
  for (size_t i = 1; i < messages.size(); ++i) {
    v1::FromAdapter message;
    if (!message.ParseFromString(messages[i])) break;
    if (has_port && message.has_packets_awaited() &&
        message.packets_awaited().token().size() == std::tuple_size_v<Secret> &&
        message.packets_awaited().number() > last) {
      last = message.packets_awaited().number();
      continue;
    }
    if (!message.has_data() || message.data().size() > kMaxAtOnce) break;
    all += message.data();
  }
  return all;
}

void TryAttachHost(Scene& scene, const std::vector<std::string>& messages,
                   bool accepts) {
  scene.daemon().Accept(accepts);
  Require(!scene.Call("AttachHost", messages).ok());
  const std::optional<Attachment> attached = scene.daemon().Take();
  if (!attached) return;
  v1::FromAdapter first;
  Require(first.ParseFromString(messages.at(0)));
  Require(CommonVersion(kNodeLinkVersions,
                        {.oldest = first.attach().oldest_node_link_version(),
                         .newest = first.attach().node_link_version()})
              .has_value());
  Require(first.attach().node() == attached->node);
  Require(attached->heard == (accepts ? BytesOf(messages) : ""));
}

}  // namespace
}  // namespace ibemu::peers

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ibemu::peers::Scene;
  static Scene& scene = *new Scene;
  ibemu::testing::FuzzInput input(data, size);
  const uint8_t what = input.Byte();
  std::vector<std::string> messages;
  while (!input.empty()) {
    messages.push_back(ibemu::peers::SomeMessage(input));
  }
  switch (what % 6) {
    case 0:
      scene.Call("DescribeHost", messages);
      break;
    case 1:
      scene.Call("ListHosts", messages);
      break;
    case 2:
      scene.Call("ListFreeHosts", messages);
      break;
    default:
      ibemu::peers::TryAttachHost(scene, messages, what % 6 != 3);
  }
  return 0;
}
