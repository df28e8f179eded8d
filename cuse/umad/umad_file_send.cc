// UmadFile, part 3: write(), which sends one MAD, and the outcome of sends.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "cuse/umad/umad_file.h"
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

void UmadFile::Write(Written data, WriteReply reply) {
  const size_t size = data.size();
  const Errno error = Send(std::move(data));
  if (error != Errno::kOk) return reply.Fail(error);
  reply.Written(size);
}

Errno UmadFile::Send(Written data) {
  // The head may also be too short because the header grew while the pieces
  // came.
  if (data.head.size() < header_size_ ||
      data.body.size() < mad::kRmppHeaderBytes) {
    return Errno::kInvalid;
  }
  const ib_user_mad_hdr header = DecodeUmadHeader(data.head, header_size_);
  if (header.id >= kMaxAgents) return Errno::kInvalid;
  mad::Agent* const agent = agents_[header.id].get();
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

}  // namespace ibemu::cuse
