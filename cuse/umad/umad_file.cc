#include "cuse/umad/umad_file.h"

#include <poll.h>
#include <rdma/rdma_user_ioctl.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <utility>

#include "mad/mad_class.h"

namespace ibemu::cuse {
namespace {

// Returns true if the core does RMPP for the agent.  Other agents see single
// packets.
bool HasKernelRmpp(const mad::Registration& registration) {
  return registration.rmpp_version != 0 && !registration.user_rmpp;
}

bool IsUserRmppPacket(const mad::Registration& registration, Bytes mad) {
  return !HasKernelRmpp(registration) &&
         mad::IsRmppClass(wire::Get<&mad::MadHeader::mgmt_class>(mad)) &&
         mad::IsRmppActive(mad);
}

// Sets the high half of the TID, by which answers find the agent again.
void SetHighTid(uint32_t high, std::span<std::byte> mad) {
  const auto low =
      static_cast<uint32_t>(wire::Get<&mad::MadHeader::tid>(Bytes(mad)));
  wire::Put<&mad::MadHeader::tid>(mad, uint64_t{high} << 32 | low);
}

}  // namespace

UmadFile::UmadFile(std::shared_ptr<mad::Host> host, int port)
    : host_(std::move(host)), agents_(*host_, port, *this) {}

void UmadFile::Open(bool /*nonblock*/, OpenReply reply) {
  if (host_->removed()) return reply.Fail(Errno::kNoSuchAddress);
  watch_ = host_->Watch([this] { OnHostChanged(); });
  reply.Opened();
}

void UmadFile::Read(bool nonblock, ReadReply reply) {
  if (reply.room() < agents_.header_size()) return reply.Fail(Errno::kInvalid);
  if (host_->removed()) return reply.Fail(Errno::kIo);
  if (!queue_.empty()) return Deliver(std::move(reply));
  if (nonblock) return reply.Fail(Errno::kTryAgain);
  reads_.Park(std::move(reply));
}

void UmadFile::Write(Written data, WriteReply reply) {
  const size_t size = data.size();
  const Errno error = Send(std::move(data));
  if (error != Errno::kOk) return reply.Fail(error);
  reply.Written(size);
}

Errno UmadFile::Send(Written data) {
  const size_t header_size = agents_.header_size();
  // The head may also be too short because the header grew while the pieces
  // came.
  if (data.head.size() < header_size ||
      data.body.size() < mad::kRmppHeaderBytes) {
    return Errno::kInvalid;
  }
  const ib_user_mad_hdr header = DecodeUmadHeader(data.head, header_size);
  if (!UmadAgents::IsId(header.id)) return Errno::kInvalid;
  mad::Agent* const agent = agents_.Find(header.id);
  if (agent == nullptr) return Errno::kIo;

  const mad::Registration& registration = agent->registration();
  mad::OutgoingMessage message{
      .to = DestinationOf(header, registration.qp),
      .mad = std::move(data.body),
      .timeout = absl::Milliseconds(header.timeout_ms),
      .retries = static_cast<int>(std::min<uint32_t>(header.retries, INT_MAX)),
  };
  if (!mad::IsResponseMad(message.mad)) {
    SetHighTid(agent->hi_tid(), message.mad);
  }
  if (!IsUserRmppPacket(registration, message.mad) &&
      sends_.IsDuplicate(header, message.mad)) {
    return Errno::kInvalid;
  }
  const uint64_t cookie = sends_.Add(header.id, header, message.mad);
  message.cookie = cookie;
  const absl::Status sent = agent->Send(std::move(message));
  if (sent.ok()) return Errno::kOk;
  sends_.Take(cookie);
  return absl::IsUnavailable(sent) ? Errno::kIo : ToErrno(sent);
}

void UmadFile::Ioctl(const IoctlRequest& request, IoctlReply reply) {
  Errno result = Errno::kNotTty;
  switch (request.command) {
    case IB_USER_MAD_REGISTER_AGENT:
      return agents_.Register<ib_user_mad_reg_req>(request, std::move(reply));
    case IB_USER_MAD_REGISTER_AGENT2:
      return agents_.Register<ib_user_mad_reg_req2>(request, std::move(reply));
    case IB_USER_MAD_UNREGISTER_AGENT:
      result = UnregisterAgent(request);
      break;
    case IB_USER_MAD_ENABLE_PKEY:
      result = agents_.EnablePKey();
      break;
    default:
      break;
  }
  if (result != Errno::kOk) return reply.Fail(result);
  reply.Done();
}

// Messages that the agent received before stay readable.  Those that it sent
// are forgotten.
Errno UmadFile::UnregisterAgent(const IoctlRequest& ioctl) {
  uint32_t id = 0;
  if (ioctl.in.size() < sizeof id) return Errno::kFault;
  std::memcpy(&id, ioctl.in.data(), sizeof id);
  if (!agents_.Remove(id)) return Errno::kInvalid;
  sends_.DropAgent(id);
  return Errno::kOk;
}

uint32_t UmadFile::Poll() {
  if (host_->removed()) return POLLERR;
  const uint32_t writable = POLLOUT | POLLWRNORM;
  return queue_.empty() ? writable : writable | POLLIN | POLLRDNORM;
}

// A packet that can't be delivered stays first in the queue.
void UmadFile::Deliver(ReadReply reply) {
  const UmadPacket& first = queue_.front();
  const size_t header_size = agents_.header_size();
  switch (queue_.Fits(header_size, reply.room())) {
    case Errno::kOk: {
      UmadPacket packet = queue_.TakeFront();
      return reply.Data(AsBytes(packet.header, header_size),
                        std::move(packet.mad));
    }
    case Errno::kNoSpace:
      return reply.NoSpace(AsBytes(first.header, header_size),
                           Bytes(first.mad).first(UmadQueue::kFirstSegment));
    default:
      return reply.Fail(Errno::kInvalid);
  }
}

void UmadFile::Queue(UmadPacket packet) {
  queue_.Push(std::move(packet));
  while (!queue_.empty() && !reads_.empty()) Deliver(reads_.TakeFirst());
  if (!queue_.empty()) NotifyEvents();
}

void UmadFile::OnMad(mad::Agent& agent, mad::IncomingMessage message) {
  if (queue_.full()) return;
  const ib_user_mad_hdr header =
      HeaderOf(message, agents_.IdOf(agent), agents_.header_size());
  Queue({header, std::move(message.mad)});
}

void UmadFile::OnSendDone(mad::Agent& /*agent*/, uint64_t cookie) {
  sends_.Take(cookie);
}

// The reader gets back the writer's own header, and the first 24 bytes of the
// MAD.
void UmadFile::OnSendTimeout(mad::Agent& /*agent*/, uint64_t cookie) {
  std::optional<UmadSends::Send> send = sends_.Take(cookie);
  if (!send) return;
  send->header.status = ETIMEDOUT;
  Queue({send->header, {send->mad_header.begin(), send->mad_header.end()}});
}

// Does as Linux does: a reader gets EIO from now on, one that is already
// blocked stays so until a signal comes, and poll() reports an error and
// nothing else.
void UmadFile::OnHostChanged() {
  if (gone_ || !host_->removed()) return;
  gone_ = true;
  agents_.Clear();
  queue_.Clear();
  NotifyEvents();
}

}  // namespace ibemu::cuse
