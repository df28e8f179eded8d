#include "cuse/umad/umad_file.h"

#include <poll.h>
#include <rdma/rdma_user_ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cuse/rings/shared_memory.h"
#include "cuse/rings/take_rings.h"
#include "fast_path/rings/attach_rings.h"
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

UmadFile::UmadFile(std::shared_ptr<mad::Host> host, int port, RingSet* rings)
    : host_(std::move(host)),
      port_(port),
      ring_set_(rings),
      // Nobody hears of an error: a client sends by its rings only what is
      // surely none.
      rings_([this](Bytes data) {
        Send(Written::Of(data, agents_.header_size()));
      }),
      agents_(*host_, port, *this) {}

// What was written is sent, also if the writer is gone.
UmadFile::~UmadFile() { rings_.CatchUp(); }

void UmadFile::Open(bool /*nonblock*/, OpenReply reply) {
  if (host_->removed()) return reply.Fail(Errno::kNoSuchAddress);
  watch_ = host_->Watch([this] { OnHostChanged(); });
  reply.Opened();
}

void UmadFile::Read(bool nonblock, ReadReply reply) {
  if (reply.room() < agents_.header_size()) return reply.Fail(Errno::kInvalid);
  if (host_->removed()) return reply.Fail(Errno::kIo);
  rings_.CatchUp();
  std::array<std::byte, kUmadHeader + mad::kMadBytes> data;
  if (const auto length = rings_.Take(data, reply.room())) {
    if (*length > reply.room()) return reply.Fail(Errno::kInvalid);
    return reply.Data(Bytes(data).first(*length));
  }
  if (!queue_.empty()) return Deliver(std::move(reply));
  if (nonblock) return reply.Fail(Errno::kTryAgain);
  reads_.Park(std::move(reply));
}

void UmadFile::Write(Written data, WriteReply reply) {
  const size_t size = data.size();
  rings_.CatchUp();
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
  rings_.OnAccepted(message.mad);
  const absl::Status sent = agent->Send(std::move(message));
  if (sent.ok()) return Errno::kOk;
  EndSend(cookie);
  return absl::IsUnavailable(sent) ? Errno::kIo : ToErrno(sent);
}

std::optional<UmadSends::Send> UmadFile::EndSend(uint64_t cookie) {
  std::optional<UmadSends::Send> send = sends_.Take(cookie);
  if (send) rings_.OnEnded(send->mad_header);
  return send;
}

void UmadFile::Ioctl(const IoctlRequest& request, IoctlReply reply) {
  rings_.CatchUp();
  Answer(request, std::move(reply));
  TellAgents();
}

void UmadFile::Answer(const IoctlRequest& request, IoctlReply reply) {
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
    case fast_path::kAttachRings:
      result = AttachRings(request);
      break;
    case fast_path::kLookAtRings:
      if (rings_.attached()) result = Errno::kOk;
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
  sends_.DropAgent(id, [this](const UmadSends::Send& send) {
    rings_.OnEnded(send.mad_header);
  });
  return Errno::kOk;
}

// An agent that was there before could have sends under way that nobody has
// counted.
Errno UmadFile::AttachRings(const IoctlRequest& ioctl) {
  const bool busy = rings_.attached() || agents_.used();
  const Errno state = busy               ? Errno::kBusy
                      : host_->removed() ? Errno::kIo
                                         : Errno::kOk;
  std::optional<SharedMemory> memory;
  const Errno error = TakeRings(ioctl, ring_set_, state,
                                sizeof(fast_path::UmadRingMemory), memory);
  if (error != Errno::kOk) return error;
  RingSet::Client client = {
      .user = ioctl.user,
      .process = memory->process(),
      .file = absl::StrCat("umad of ", host_->device().node_description(),
                           ", port ", port_)};
  rings_.Attach(*ring_set_, std::move(client), *std::move(memory));
  rings_.SetMore(!queue_.empty());
  return Errno::kOk;
}

void UmadFile::TellAgents() {
  rings_.SetFormat(agents_.header_size(), static_cast<uint8_t>(port_));
  for (uint32_t id = 0; id < UmadAgents::kMaxAgents; ++id) {
    const mad::Agent* const agent = agents_.Find(id);
    auto kind = fast_path::AgentKind::kNone;
    if (agent != nullptr) {
      kind = agent->registration().rmpp_version == 0
                 ? fast_path::AgentKind::kPlain
                 : fast_path::AgentKind::kRmpp;
    }
    rings_.SetAgent(id, kind);
  }
}

uint32_t UmadFile::Poll() {
  if (host_->removed()) return POLLERR;
  rings_.CatchUp();
  const uint32_t writable = POLLOUT | POLLWRNORM;
  const bool readable = !queue_.empty() || rings_.messages() != 0;
  return readable ? writable | POLLIN | POLLRDNORM : writable;
}

// A packet that can't be delivered stays first in the queue.
void UmadFile::Deliver(ReadReply reply) {
  const UmadPacket& first = queue_.front();
  const size_t header_size = agents_.header_size();
  switch (queue_.Fits(header_size, reply.room())) {
    case Errno::kOk: {
      UmadPacket packet = queue_.TakeFront();
      rings_.SetMore(!queue_.empty());
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
  if (queue_.empty() && reads_.empty() &&
      rings_.Put(AsBytes(packet.header, agents_.header_size()), packet.mad)) {
    return NotifyEvents();
  }
  queue_.Push(std::move(packet));
  while (!queue_.empty() && !reads_.empty()) Deliver(reads_.TakeFirst());
  rings_.SetMore(!queue_.empty());
  if (!queue_.empty()) NotifyEvents();
}

void UmadFile::OnMad(mad::Agent& agent, mad::IncomingMessage message) {
  if (queue_.IsFull(rings_.messages())) return;
  const ib_user_mad_hdr header =
      HeaderOf(message, agents_.IdOf(agent), agents_.header_size());
  Queue({header, std::move(message.mad)});
}

void UmadFile::OnSendDone(mad::Agent& /*agent*/, uint64_t cookie) {
  EndSend(cookie);
}

// The reader gets back the writer's own header, and the first 24 bytes of the
// MAD.
void UmadFile::OnSendTimeout(mad::Agent& /*agent*/, uint64_t cookie) {
  std::optional<UmadSends::Send> send = EndSend(cookie);
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
  rings_.Close();
  agents_.Clear();
  queue_.Clear();
  NotifyEvents();
}

}  // namespace ibemu::cuse
