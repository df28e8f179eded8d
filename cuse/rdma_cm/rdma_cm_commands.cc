#include "cuse/rdma_cm/rdma_cm_commands.h"

#include <linux/capability.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cuse/client/capability.h"
#include "cuse/client/proc_path.h"
#include "cuse/rdma_cm/addresses.h"
#include "cuse/rdma_cm/options.h"
#include "cuse/rdma_cm/query_responses.h"
#include "cuse/rdma_cm/refusal_errno.h"

namespace ibemu::cuse {
namespace {

using rdma_cm::Channel, rdma_cm::Outcome, rdma_cm::SocketAddress;
using Needs = Channel::Needs;
using Answer = RdmaCmCommands::Answer;

// Returns the command's structure; what the client did not write is 0.
template <class T>
T Command(mad::Bytes body) {
  T command{};
  std::memcpy(&command, body.data(), std::min(body.size(), sizeof command));
  return command;
}

template <class T>
mad::Bytes BytesOf(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

Answer Failed(Errno error) { return {.error = error}; }
Answer Result(rdma_cm::Refusal refusal) {
  return {.error = RefusalErrno(refusal)};
}

// The answer is cut to what the client has room for.
template <class T>
Answer Respond(uint64_t address, const T& response, size_t room = sizeof(T)) {
  const mad::Bytes bytes =
      BytesOf(response).first(std::min(room, sizeof response));
  return {.address = address, .response = {bytes.begin(), bytes.end()}};
}

// Responds with a number: an id, or how many events were reported.
Answer RespondNumber(uint64_t address, const Outcome<uint32_t>& number) {
  if (!number.ok()) return Result(number.refusal());
  return Respond(address, *number);
}

// Returns whether `address` is exactly as long as one of its family.
bool HasSize(mad::Bytes address, size_t size) {
  return size != 0 && size == AddressSize(address);
}

bool MayUseLowPorts(pid_t caller) {
  return HasCapability(caller, CAP_NET_BIND_SERVICE);
}

rdma_cm::ConnectionParameters ParametersOf(const rdma_ucm_conn_param& param,
                                           const rdma_cm::Id& id) {
  constexpr uint32_t kQpnMask = 0xffffff;
  const auto* const data =
      reinterpret_cast<const std::byte*>(param.private_data);
  const bool is_ib = id.source().family == rdma_cm::Family::kIb;
  return {.qp_num = param.qp_num & kQpnMask,
          .qkey = is_ib ? param.qkey : 0,
          .private_data = {data, data + param.private_data_len},
          .srq = param.srq != 0,
          .responder_resources = param.responder_resources,
          .initiator_depth = param.initiator_depth,
          .flow_control = param.flow_control,
          .retry_count = param.retry_count,
          .rnr_retry_count = param.rnr_retry_count};
}

cm::Ece EceOf(const rdma_ucm_ece& ece) {
  return {.vendor_id = ece.vendor_id, .attr_mod = ece.attr_mod};
}

// Whether the descriptor is one of rdma_cm in the caller's process.
Errno CheckDescriptor(pid_t caller, uint32_t fd) {
  std::array<char, PATH_MAX> target{};
  const std::string name = absl::StrCat("fd/", fd);
  const ssize_t size = readlink(ProcPath(caller, name.c_str()).data(),
                                target.data(), target.size());
  if (size < 0) return Errno::kNoEntry;
  const std::string_view path(target.data(), static_cast<size_t>(size));
  const std::string_view last = path.substr(path.rfind('/') + 1);
  return last.find("rdma_cm") != std::string_view::npos ? Errno::kOk
                                                        : Errno::kInvalid;
}

}  // namespace

RdmaCmCommands::Handler RdmaCmCommands::HandlerOf(uint32_t command) {
  switch (command) {
    case RDMA_USER_CM_CMD_CREATE_ID:
      return &RdmaCmCommands::CreateId;
    case RDMA_USER_CM_CMD_DESTROY_ID:
      return &RdmaCmCommands::DestroyId;
    case RDMA_USER_CM_CMD_BIND_IP:
      return &RdmaCmCommands::BindIp;
    case RDMA_USER_CM_CMD_RESOLVE_IP:
      return &RdmaCmCommands::ResolveIp;
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
      return &RdmaCmCommands::ResolveRoute;
    case RDMA_USER_CM_CMD_QUERY_ROUTE:
      return &RdmaCmCommands::QueryRoute;
    case RDMA_USER_CM_CMD_CONNECT:
      return &RdmaCmCommands::Connect;
    case RDMA_USER_CM_CMD_LISTEN:
      return &RdmaCmCommands::Listen;
    case RDMA_USER_CM_CMD_ACCEPT:
      return &RdmaCmCommands::Accept;
    case RDMA_USER_CM_CMD_REJECT:
      return &RdmaCmCommands::Reject;
    case RDMA_USER_CM_CMD_DISCONNECT:
      return &RdmaCmCommands::Disconnect;
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
      return &RdmaCmCommands::InitQpAttr;
    case RDMA_USER_CM_CMD_SET_OPTION:
      return &RdmaCmCommands::SetOption;
    case RDMA_USER_CM_CMD_NOTIFY:
      return &RdmaCmCommands::Notify;
    case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
      return &RdmaCmCommands::JoinIpMulticast;
    case RDMA_USER_CM_CMD_LEAVE_MCAST:
      return &RdmaCmCommands::LeaveMulticast;
    case RDMA_USER_CM_CMD_MIGRATE_ID:
      return &RdmaCmCommands::MigrateId;
    case RDMA_USER_CM_CMD_QUERY:
      return &RdmaCmCommands::Query;
    case RDMA_USER_CM_CMD_BIND:
      return &RdmaCmCommands::Bind;
    case RDMA_USER_CM_CMD_RESOLVE_ADDR:
      return &RdmaCmCommands::ResolveAddress;
    case RDMA_USER_CM_CMD_JOIN_MCAST:
      return &RdmaCmCommands::JoinMulticast;
    default:
      return nullptr;
  }
}

size_t RdmaCmCommands::LeastOut(uint32_t command) {
  switch (command) {
    case RDMA_USER_CM_CMD_CREATE_ID:
    case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
    case RDMA_USER_CM_CMD_JOIN_MCAST:
      return sizeof(rdma_ucm_create_id_resp);
    case RDMA_USER_CM_CMD_DESTROY_ID:
    case RDMA_USER_CM_CMD_LEAVE_MCAST:
      return sizeof(rdma_ucm_destroy_id_resp);
    case RDMA_USER_CM_CMD_QUERY_ROUTE:
      return offsetof(rdma_ucm_query_route_resp, ibdev_index);
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
      return sizeof(ib_uverbs_qp_attr);
    case RDMA_USER_CM_CMD_GET_EVENT:
      return offsetof(rdma_ucm_event_resp, reserved);
    default:
      return 0;
  }
}

Answer RdmaCmCommands::Execute(const Call& call) {
  const Handler handler = HandlerOf(call.command);
  if (handler == nullptr) return Failed(Errno::kNoSystemCall);
  if (call.out < LeastOut(call.command)) return Failed(Errno::kNoSpace);
  return (this->*handler)(call);
}

Answer RdmaCmCommands::CreateId(const Call& call) {
  const auto command = Command<rdma_ucm_create_id>(call.body);
  const auto space = rdma_cm::PortSpace{command.ps};
  switch (space) {
    case rdma_cm::PortSpace::kIpoib:
    case rdma_cm::PortSpace::kTcp:
    case rdma_cm::PortSpace::kUdp:
    case rdma_cm::PortSpace::kIb:
      break;
    default:
      return Failed(Errno::kInvalid);
  }
  const Outcome<uint32_t> id =
      channel_.Create(command.uid, space, command.qp_type);
  Answer answer = RespondNumber(command.response, id);
  if (id.ok()) {
    answer.undo = [this, number = *id] { (void)channel_.Destroy(number); };
  }
  return answer;
}

Answer RdmaCmCommands::DestroyId(const Call& call) {
  const auto command = Command<rdma_ucm_destroy_id>(call.body);
  return RespondNumber(command.response, channel_.Destroy(command.id));
}

// ----- Addresses

Answer RdmaCmCommands::BindIp(const Call& call) {
  const auto command = Command<rdma_ucm_bind_ip>(call.body);
  const SocketAddress address = ReadAddress(BytesOf(command.addr));
  if (address.family == rdma_cm::Family::kNone) return Failed(Errno::kInvalid);
  return BindTo(command.id, address, call.caller);
}

Answer RdmaCmCommands::Bind(const Call& call) {
  const auto command = Command<rdma_ucm_bind>(call.body);
  if (command.reserved != 0 ||
      !HasSize(BytesOf(command.addr), command.addr_size)) {
    return Failed(Errno::kInvalid);
  }
  return BindTo(command.id, ReadAddress(BytesOf(command.addr)), call.caller);
}

Answer RdmaCmCommands::BindTo(uint32_t id, const SocketAddress& address,
                              pid_t caller) {
  const auto found = channel_.Find(id);
  if (!found.ok()) return Result(found.refusal());
  return Result((*found)->id()->Bind(address, MayUseLowPorts(caller)));
}

Answer RdmaCmCommands::ResolveIp(const Call& call) {
  const auto command = Command<rdma_ucm_resolve_ip>(call.body);
  const SocketAddress source = ReadAddress(BytesOf(command.src_addr));
  const SocketAddress destination = ReadAddress(BytesOf(command.dst_addr));
  if ((command.src_addr.sin6_family != 0 &&
       source.family == rdma_cm::Family::kNone) ||
      destination.family == rdma_cm::Family::kNone) {
    return Failed(Errno::kInvalid);
  }
  const auto id = channel_.Find(command.id);
  if (!id.ok()) return Result(id.refusal());
  return Result((*id)->id()->ResolveAddress(
      source, destination, absl::Milliseconds(command.timeout_ms),
      MayUseLowPorts(call.caller)));
}

Answer RdmaCmCommands::ResolveAddress(const Call& call) {
  const auto command = Command<rdma_ucm_resolve_addr>(call.body);
  const mad::Bytes source = BytesOf(command.src_addr);
  const mad::Bytes destination = BytesOf(command.dst_addr);
  if (command.reserved != 0 ||
      (command.src_size != 0 && !HasSize(source, command.src_size)) ||
      !HasSize(destination, command.dst_size)) {
    return Failed(Errno::kInvalid);
  }
  const auto id = channel_.Find(command.id);
  if (!id.ok()) return Result(id.refusal());
  return Result((*id)->id()->ResolveAddress(
      ReadAddress(source), ReadAddress(destination),
      absl::Milliseconds(command.timeout_ms), MayUseLowPorts(call.caller)));
}

Answer RdmaCmCommands::ResolveRoute(const Call& call) {
  const auto command = Command<rdma_ucm_resolve_route>(call.body);
  const auto id = channel_.Find(command.id, Needs::kDevice);
  if (!id.ok()) return Result(id.refusal());
  return Result(
      (*id)->id()->ResolveRoute(absl::Milliseconds(command.timeout_ms)));
}

Answer RdmaCmCommands::QueryRoute(const Call& call) {
  const auto command = Command<rdma_ucm_query>(call.body);
  const auto id = channel_.Find(command.id);
  if (!id.ok()) return Result(id.refusal());
  return Respond(command.response, RouteResponse(*(*id)->id()), call.out);
}

// The room that the answer needs depends on the question.
Answer RdmaCmCommands::Query(const Call& call) {
  constexpr size_t kLeast = offsetof(rdma_ucm_query_addr_resp, ibdev_index);
  const auto command = Command<rdma_ucm_query>(call.body);
  const auto found = channel_.Find(command.id);
  if (!found.ok()) return Result(found.refusal());
  const rdma_cm::Id& id = *(*found)->id();
  switch (command.option) {
    case RDMA_USER_CM_QUERY_ADDR:
      if (call.out < kLeast) return Failed(Errno::kNoSpace);
      return Respond(command.response, AddressResponse(id), call.out);
    case RDMA_USER_CM_QUERY_PATH:
      if (call.out < sizeof(rdma_ucm_query_path_resp)) {
        return Failed(Errno::kNoSpace);
      }
      return {.address = command.response,
              .response = PathResponse(id, call.out)};
    case RDMA_USER_CM_QUERY_GID:
      if (call.out < kLeast) return Failed(Errno::kNoSpace);
      return Respond(command.response, GidResponse(id), call.out);
    default:
      return Failed(Errno::kNoSystemCall);
  }
}

// ----- Connections

// Of CONNECT and ACCEPT older clients have no `ece`.
Answer RdmaCmCommands::Connect(const Call& call) {
  if (call.in < offsetof(rdma_ucm_connect, ece)) {
    return Failed(Errno::kInvalid);
  }
  const auto command = Command<rdma_ucm_connect>(
      call.body.first(std::min<size_t>(call.in, call.body.size())));
  if (command.conn_param.valid == 0) return Failed(Errno::kInvalid);
  const auto found = channel_.Find(command.id, Needs::kDevice);
  if (!found.ok()) return Result(found.refusal());
  rdma_cm::Id& id = *(*found)->id();
  return Result(
      id.Connect(ParametersOf(command.conn_param, id), EceOf(command.ece)));
}

Answer RdmaCmCommands::Listen(const Call& call) {
  const auto command = Command<rdma_ucm_listen>(call.body);
  const auto id = channel_.Find(command.id);
  if (!id.ok()) return Result(id.refusal());
  return Result(channel_.Listen(**id, static_cast<int>(command.backlog)));
}

Answer RdmaCmCommands::Accept(const Call& call) {
  if (call.in < offsetof(rdma_ucm_accept, ece)) return Failed(Errno::kInvalid);
  const auto command = Command<rdma_ucm_accept>(
      call.body.first(std::min<size_t>(call.in, call.body.size())));
  const auto found = channel_.Find(command.id, Needs::kDevice);
  if (!found.ok()) return Result(found.refusal());
  rdma_cm::UserId& id = **found;
  if (command.conn_param.valid == 0) return Result(id.id()->Establish());
  return Result(channel_.Accept(id, command.uid,
                                ParametersOf(command.conn_param, *id.id()),
                                EceOf(command.ece)));
}

Answer RdmaCmCommands::Reject(const Call& call) {
  const auto command = Command<rdma_ucm_reject>(call.body);
  const auto reason = command.reason == 0
                          ? cm::RejectReason::kConsumerDefined
                          : static_cast<cm::RejectReason>(command.reason);
  if (reason != cm::RejectReason::kConsumerDefined &&
      reason != cm::RejectReason::kVendorOptionNotSupported) {
    return Failed(Errno::kInvalid);
  }
  const auto id = channel_.Find(command.id, Needs::kDevice);
  if (!id.ok()) return Result(id.refusal());
  return Result(
      (*id)->id()->Reject(reason, std::as_bytes(std::span(command.private_data))
                                      .first(command.private_data_len)));
}

Answer RdmaCmCommands::Disconnect(const Call& call) {
  const auto command = Command<rdma_ucm_disconnect>(call.body);
  const auto id = channel_.Find(command.id, Needs::kDevice);
  if (!id.ok()) return Result(id.refusal());
  return Result((*id)->id()->Disconnect());
}

Answer RdmaCmCommands::InitQpAttr(const Call& call) {
  const auto command = Command<rdma_ucm_init_qp_attr>(call.body);
  if (command.qp_state > static_cast<uint32_t>(verbs::QpState::kError)) {
    return Failed(Errno::kInvalid);
  }
  const auto id = channel_.Find(command.id, Needs::kDevice);
  if (!id.ok()) return Result(id.refusal());
  const auto attributes = (*id)->id()->QpAttributesFor(
      static_cast<verbs::QpState>(command.qp_state));
  if (!attributes.ok()) return Result(attributes.refusal());
  return Respond(command.response, *attributes);
}

Answer RdmaCmCommands::SetOption(const Call& call) {
  const auto command = Command<rdma_ucm_set_option>(call.body);
  const auto id = channel_.Find(command.id);
  if (!id.ok()) return Result(id.refusal());
  if (command.optlen > kLongestOption) return Failed(Errno::kInvalid);
  return {.address = command.optval,
          .read_size = command.optlen,
          .with_data = [this, command](mad::Bytes value) {
            const auto now = channel_.Find(command.id);
            if (!now.ok()) return RefusalErrno(now.refusal());
            return cuse::SetOption(*(*now)->id(), command.level,
                                   command.optname, value);
          }};
}

Answer RdmaCmCommands::Notify(const Call& call) {
  const auto command = Command<rdma_ucm_notify>(call.body);
  const auto id = channel_.Find(command.id);
  if (!id.ok()) return Result(id.refusal());
  switch (verbs::AsyncEventType{command.event}) {
    case verbs::AsyncEventType::kCommunicationEstablished:
      return Result((*id)->id()->NotifyEstablished());
    case verbs::AsyncEventType::kPathMigrated:
      return Result((*id)->id()->NotifyMigrated());
    default:
      return Failed(Errno::kInvalid);
  }
}

// ----- Multicast

Answer RdmaCmCommands::JoinIpMulticast(const Call& call) {
  const auto command = Command<rdma_ucm_join_ip_mcast>(call.body);
  const SocketAddress group = ReadAddress(BytesOf(command.addr));
  if (group.family == rdma_cm::Family::kNone) return Failed(Errno::kInvalid);
  return Join(command.response, command.uid, command.id, group,
              mad::kFullMember);
}

Answer RdmaCmCommands::JoinMulticast(const Call& call) {
  const auto command = Command<rdma_ucm_join_mcast>(call.body);
  if (!HasSize(BytesOf(command.addr), command.addr_size) ||
      command.join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) {
    return Failed(Errno::kInvalid);
  }
  const bool is_full = command.join_flags == RDMA_MC_JOIN_FLAG_FULLMEMBER;
  return Join(command.response, command.uid, command.id,
              ReadAddress(BytesOf(command.addr)),
              is_full ? mad::kFullMember : mad::kSendOnlyFullMember);
}

Answer RdmaCmCommands::Join(uint64_t response, uint64_t uid, uint32_t id,
                            const SocketAddress& group, uint8_t join_state) {
  const auto found = channel_.Find(id, Needs::kDevice);
  if (!found.ok()) return Result(found.refusal());
  const Outcome<uint32_t> join = channel_.Join(*found, uid, group, join_state);
  Answer answer = RespondNumber(response, join);
  if (join.ok()) {
    answer.undo = [this, number = *join] { (void)channel_.Leave(number); };
  }
  return answer;
}

Answer RdmaCmCommands::LeaveMulticast(const Call& call) {
  const auto command = Command<rdma_ucm_destroy_id>(call.body);
  return RespondNumber(command.response, channel_.Leave(command.id));
}

// -----

Answer RdmaCmCommands::MigrateId(const Call& call) {
  const auto command = Command<rdma_ucm_migrate_id>(call.body);
  const Errno error = CheckDescriptor(call.caller, command.fd);
  if (error != Errno::kOk) return Failed(error);
  return RespondNumber(command.response, channel_.TakeOver(command.id));
}

}  // namespace ibemu::cuse
