#include "peers/subnet_proxy.h"

#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/secret.h"
#include "base/status_macros.h"
#include "control/bounded_stream.h"
#include "peers/grpc_status.h"
#include "peers/last_task.h"
#include "peers/node_link_carrier.h"
#include "peers/node_link_versions.h"

namespace ibemu::peers {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kPatience(5), kReconnects(1);
// In what gRPC says of a peer whose certificate is another's.
constexpr char kOtherName[] = "Hostname Verification Check failed";
// And of one that has as many calls as Serve() lets it have threads.
constexpr char kNoThread[] = "Threadpool Exhausted";

// How it went, and whether connections of packets have to be encrypted.
struct Attached {
  grpc::Status status;
  bool encrypt = false;
};

}  // namespace

// A node link of which the node is on another machine.
struct SubnetProxy::NodeLink {
  using Stream = grpc::ClientReaderWriter<v1::FromAdapter, v1::ToAdapter>;

  // Several threads write, and one reads.
  bool Write(const v1::FromAdapter& message) {
    const std::lock_guard lock(mutex);
    return open && stream->Write(message);
  }
  bool Read(v1::ToAdapter* message) { return stream->Read(message); }
  grpc::Status Finish() {
    {
      const std::lock_guard lock(mutex);
      open = false;
    }
    return stream->Finish();
  }

  grpc::ClientContext context;
  v1::FromAdapter first;
  UniqueFd socket;
  std::promise<Attached> attached;
  std::unique_ptr<Stream> stream;
  std::mutex mutex;
  bool open = false;  // guarded by `mutex`
  // The other machine may take nothing.
  LastTask<v1::PacketsAwaited> ask{[this](const v1::PacketsAwaited& awaited) {
    v1::FromAdapter message;
    *message.mutable_packets_awaited() = awaited;
    Write(message);
  }};
};

void SubnetProxy::Serve(v1::Subnet::Stub& stub, NodeLink& link) {
  link.stream = stub.AttachHost(&link.context);
  v1::ToAdapter answer;
  if (!link.stream->Write(link.first) || !link.Read(&answer)) {
    return link.attached.set_value({link.Finish()});
  }
  if (!kNodeLinkVersions.Has(answer.attached().node_link_version())) {
    link.context.TryCancel();
    link.attached.set_value(
        {{grpc::StatusCode::UNAVAILABLE,
          "it does not say that we are attached, by a version of the node link "
          "that this ibemu speaks"}});
    return;
  }
  {
    const std::lock_guard lock(link.mutex);
    link.open = true;
  }
  link.attached.set_value({grpc::Status::OK, answer.attached().encrypt()});
  CarryNodeLink<v1::FromAdapter, v1::ToAdapter>(
      std::move(link.socket), link, [&link] { link.context.TryCancel(); });
  link.Finish();
}

SubnetProxy::SubnetProxy(const std::shared_ptr<grpc::Channel>& channel,
                         std::string address, LeasePort& lease_port)
    : channel_(channel),
      stub_(v1::Subnet::NewStub(channel)),
      address_(std::move(address)),
      lease_port_(lease_port) {}

void SubnetProxy::AddTo(control::MethodTable& methods) {
  Add(methods, "node.status", &SubnetProxy::DescribeHost);
  Add(methods, "node.names", &SubnetProxy::ListHosts);
  Add(methods, "node_link.free", &SubnetProxy::ListFreeHosts);
  Add(methods, "node_link.attach", &SubnetProxy::AttachHost);
  Add(methods, "packets.again", &SubnetProxy::AskForPackets);
}

void SubnetProxy::Add(control::MethodTable& methods, std::string_view name,
                      Method method) {
  methods.Add(name, [this, method](control::Parameters& parameters,
                                   control::Caller& caller) {
    return (this->*method)(parameters, caller);
  });
}

void SubnetProxy::AwaitConnection() const {
  const grpc_connectivity_state state = channel_->GetState(false);
  if (state != GRPC_CHANNEL_CONNECTING &&
      state != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    return;  // there, or the call begins one
  }
  // A call would fail at once, and only while somebody waits does gRPC go on
  // with a connection; else each five seconds.
  channel_->WaitForConnected(std::chrono::system_clock::now() + kReconnects);
}

template <class Request, class Answer>
absl::StatusOr<json> SubnetProxy::Ask(
    grpc::Status (v1::Subnet::Stub::*call)(grpc::ClientContext*, const Request&,
                                           Answer*),
    const Request& request) const {
  AwaitConnection();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  Answer answer;
  return Told(((*stub_).*call)(&context, request, &answer), answer);
}

absl::StatusOr<json> SubnetProxy::DescribeHost(control::Parameters& parameters,
                                               control::Caller&) {
  v1::DescribeHostRequest request;
  request.set_node(parameters.Text("node", ""));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  return Ask(&v1::Subnet::Stub::DescribeHost, request);
}

absl::StatusOr<json> SubnetProxy::ListHosts(control::Parameters& parameters,
                                            control::Caller&) {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(
      json told, Ask(&v1::Subnet::Stub::ListHosts, v1::ListHostsRequest()));
  return std::move(told["hosts"]);
}

absl::StatusOr<json> SubnetProxy::ListFreeHosts(control::Parameters& parameters,
                                                control::Caller&) {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(json told, Ask(&v1::Subnet::Stub::ListFreeHosts,
                                        v1::ListFreeHostsRequest()));
  return std::move(told["guids"]);
}

absl::StatusOr<json> SubnetProxy::AttachHost(control::Parameters& parameters,
                                             control::Caller& caller) {
  const std::string node = parameters.Text("node", "");
  const bool leases = !parameters.Text("leases", "").empty();
  const bool trains = parameters.Flag("trains", false);
  const std::string packets = parameters.Text("packets", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (!packets.empty()) IBEMU_RETURN_IF_ERROR(CheckSecretText(packets));
  UniqueFd socket = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(
      control::CheckStreamSocket(socket.get(), "node_link.attach"));
  AwaitConnection();
  // It lives as long as its thread.
  const auto link = std::make_shared<NodeLink>();
  link->first.mutable_attach()->set_node(node);
  link->first.mutable_attach()->set_node_link_version(kNodeLinkVersions.newest);
  link->first.mutable_attach()->set_oldest_node_link_version(
      kNodeLinkVersions.oldest);
  link->first.mutable_attach()->set_trains(trains);
  if (leases) {
    link->first.mutable_attach()->set_lease_port(lease_port_.number());
    link->first.mutable_attach()->set_packets_token(
        absl::HexStringToBytes(packets));
  }
  link->socket = std::move(socket);
  std::future<Attached> future = link->attached.get_future();
  try {
    std::thread([stub = stub_, link] { Serve(*stub, *link); }).detach();
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread for the node link: ", error.what()));
  }
  if (future.wait_for(kPatience) != std::future_status::ready) {
    link->context.TryCancel();
  }
  const Attached attached = future.get();
  if (!attached.status.ok()) return Explain(attached.status);
  lease_port_.SetEncrypts(attached.encrypt);
  std::erase_if(links_, [](const auto& each) { return each.second.expired(); });
  if (leases && !packets.empty()) links_[packets] = link;
  return json::object();
}

absl::StatusOr<json> SubnetProxy::AskForPackets(control::Parameters& parameters,
                                                control::Caller& caller) {
  const std::string first = parameters.Text("first", "");
  const std::string token = parameters.Text("token", "");
  const int64_t number =
      parameters.Number("number", 0, 2, std::numeric_limits<uint32_t>::max());
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  const auto found = links_.find(first);
  const auto link = found == links_.end() ? nullptr : found->second.lock();
  if (link == nullptr) {
    return absl::NotFoundError("no node link has packets of this token");
  }
  IBEMU_RETURN_IF_ERROR(lease_port_.AwaitPackets("packets.again", token,
                                                 caller.TakeDescriptor()));
  v1::PacketsAwaited awaited;
  awaited.set_token(absl::HexStringToBytes(token));
  awaited.set_number(static_cast<uint32_t>(number));
  link->ask.Do(std::move(awaited));
  return json::object();
}

absl::Status SubnetProxy::Explain(const grpc::Status& status) const {
  absl::Status plain = FromGrpc(status);
  if (absl::StrContains(plain.message(), kNoThread)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(address_, ": it has no thread left for one host more"));
  }
  if (!absl::IsUnavailable(plain) && !absl::IsDeadlineExceeded(plain) &&
      !absl::IsCancelled(plain)) {
    return plain;
  }
  std::string why(plain.message());
  if (!absl::IsUnavailable(plain)) why = "no answer in five seconds";
  if (absl::StrContains(why, kOtherName)) {
    why = absl::StrCat("who answers there has no certificate of that name: \"",
                       address_.substr(0, address_.rfind(':')), "\"");
  }
  return absl::UnavailableError(absl::StrCat(address_, ": ", why));
}

absl::StatusOr<json> SubnetProxy::Told(
    const grpc::Status& status,
    const google::protobuf::Message& message) const {
  if (!status.ok()) return Explain(status);
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto printed =
      google::protobuf::util::MessageToJsonString(message, &text, options);
  json told = json::parse(text, nullptr, false);
  if (printed.ok() && !told.is_discarded()) return told;
  return absl::UnavailableError(
      absl::StrCat(address_, ": its answer can't be read"));
}

}  // namespace ibemu::peers
