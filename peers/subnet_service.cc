#include "peers/subnet_service.h"

#include <google/protobuf/util/json_util.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/secret.h"
#include "base/status_macros.h"
#include "control/rpc.h"
#include "peers/caller.h"
#include "peers/grpc_status.h"
#include "peers/last_task.h"
#include "peers/node_link_carrier.h"
#include "peers/node_link_versions.h"
#include "peers/token_connection.h"

namespace ibemu::peers {
namespace {

using nlohmann::json;

// Where who calls waits for connections that begin with a token.
std::string LeaseAddress(const grpc::ServerContext& context,
                         const v1::FromAdapter& first) {
  return absl::StrCat(AddressOf(context), ":", first.attach().lease_port());
}

// Whoever waited for the daemon, while it was stopped, is not there any more.
absl::Status GaveUp() { return absl::CancelledError("the peer gave up"); }

// Of a host.  JSON has six bytes for some that are no text, and a line of the
// control socket is bounded.
constexpr size_t kLongestName = 256;

absl::Status CheckName(const std::string& name) {
  if (name.size() <= kLongestName) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the name of a host has ", kLongestName, " bytes at most"));
}

}  // namespace

grpc::Status SubnetService::DescribeHost(grpc::ServerContext* context,
                                         const v1::DescribeHostRequest* request,
                                         v1::Host* host) {
  trust_(EndpointOf(*context));
  if (absl::Status good = CheckName(request->node()); !good.ok()) {
    return ToGrpc(good);
  }
  return ToGrpc(
      Ask(*context, "node.status", {{"node", request->node()}}, "", *host));
}

grpc::Status SubnetService::ListHosts(grpc::ServerContext* context,
                                      const v1::ListHostsRequest*,
                                      v1::HostList* hosts) {
  return ToGrpc(Ask(*context, "node.names", json::object(), "hosts", *hosts));
}

grpc::Status SubnetService::ListFreeHosts(grpc::ServerContext* context,
                                          const v1::ListFreeHostsRequest*,
                                          v1::FreeHostList* hosts) {
  return ToGrpc(
      Ask(*context, "node_link.free", json::object(), "guids", *hosts));
}

grpc::Status SubnetService::AttachHost(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::ToAdapter, v1::FromAdapter>* stream) {
  trust_(EndpointOf(*context));
  v1::FromAdapter first;
  {
    const auto wait = waiting_.Begin(*context);
    if (!wait.ok()) return ToGrpc(wait.status());
    if (!stream->Read(&first)) {
      return {grpc::StatusCode::CANCELLED, "no message came"};
    }
  }
  v1::ToAdapter answer;
  absl::StatusOr<UniqueFd> socket =
      Attach(*context, first, *answer.mutable_attached());
  if (!socket.ok()) return ToGrpc(socket.status());
  if (stream->Write(answer)) {
    LastTask<v1::PacketsAwaited> caller(
        [this, &first, address = LeaseAddress(*context, first)](
            const v1::PacketsAwaited& awaited) {
          ConnectPackets(first, address, awaited);
        });
    const bool has_port = !first.attach().packets_token().empty();
    // The peer has read the answer when it says something, and knows whether
    // the connection will be encrypted.
    const auto heard = [&] {
      if (!has_port) return;
      v1::PacketsAwaited awaited;
      awaited.set_token(first.attach().packets_token());
      awaited.set_number(1);
      caller.Do(std::move(awaited));
    };
    const auto take =
        [&, last = uint32_t{1}](const v1::FromAdapter& message) mutable {
          if (!has_port || !message.has_packets_awaited() ||
              message.packets_awaited().token().size() !=
                  std::tuple_size_v<Secret> ||
              message.packets_awaited().number() <= last) {
            return false;
          }
          last = message.packets_awaited().number();
          caller.Do(message.packets_awaited());
          return true;
        };
    CarryNodeLink<v1::ToAdapter, v1::FromAdapter>(
        *std::move(socket), *stream, [context] { context->TryCancel(); }, heard,
        take);
  }
  return {grpc::StatusCode::UNAVAILABLE, "the node link has ended"};
}

absl::StatusOr<UniqueFd> SubnetService::Attach(
    const grpc::ServerContext& context, const v1::FromAdapter& first,
    v1::Attached& answer) {
  if (!first.has_attach()) {
    return absl::InvalidArgumentError("the first message names no host");
  }
  const v1::Attach& attach = first.attach();
  const NodeLinkVersions theirs = {.oldest = attach.oldest_node_link_version(),
                                   .newest = attach.node_link_version()};
  const std::optional<uint32_t> version =
      CommonVersion(kNodeLinkVersions, theirs);
  if (!version) {
    return absl::FailedPreconditionError(
        absl::StrCat("this ibemu speaks version ", kNodeLinkVersions.Text(),
                     " of the node link, the other one ", theirs.Text(),
                     ": have the same on both machines"));
  }
  answer.set_node_link_version(*version);
  answer.set_encrypt(encrypt_);
  IBEMU_RETURN_IF_ERROR(CheckName(attach.node()));
  const size_t token = attach.packets_token().size();
  if (token != 0 &&
      (token != std::tuple_size_v<Secret> || attach.lease_port() == 0 ||
       attach.lease_port() > std::numeric_limits<uint16_t>::max())) {
    return absl::InvalidArgumentError(
        "a token for packets has 16 bytes, and a port");
  }
  json parameters = {
      {"node", attach.node()},
      {"peer", PeerOf(context)},
      {"trains", attach.trains()},
      {"packets", absl::BytesToHexString(attach.packets_token())}};
  if (attach.lease_port() != 0) {
    parameters["leases"] = LeaseAddress(context, first);
    parameters["encrypts"] = encrypt_;
  }
  const std::lock_guard lock(mutex_);
  if (context.IsCancelled()) return GaveUp();
  return daemon_.OpenStream("node_link.attach", parameters);
}

// Without it, packets go by the stream.
void SubnetService::ConnectPackets(const v1::FromAdapter& first,
                                   const std::string& address,
                                   const v1::PacketsAwaited& awaited) {
  const absl::StatusOr<UniqueFd> socket =
      ConnectByToken(address, awaited.token(), kPacketsGiveUpAfter,
                     encrypt_ ? &tls_ : nullptr);
  if (!socket.ok()) return;
  const std::lock_guard lock(mutex_);
  daemon_
      .CallWith(
          "node_link.packets",
          {{"token", absl::BytesToHexString(first.attach().packets_token())},
           {"number", awaited.number()}},
          socket->get())
      .IgnoreError();
}

absl::Status SubnetService::Ask(const grpc::ServerContext& context,
                                const std::string& method,
                                const json& parameters, const std::string& name,
                                google::protobuf::Message& message) {
  absl::StatusOr<json> result = json();
  {
    const std::lock_guard lock(mutex_);
    if (context.IsCancelled()) return GaveUp();
    result = daemon_.Call(method, parameters);
  }
  if (!result.ok()) return result.status();
  if (!name.empty()) result = json{{name, *std::move(result)}};
  // What a peer may know is what the message has.
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      control::Dump(*result), &message, options);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the answer of ", method, ": ", parsed.ToString()));
}

}  // namespace ibemu::peers
