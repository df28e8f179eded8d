#include "daemon/remote_node/leases/host_leases.h"

#include <vector>

#include "base/status_macros.h"
#include "daemon/remote_node/format/packet_train.h"
#include "fabric/packet/transport.h"
#include "spdlog/spdlog.h"
#include "wire/layout.h"

namespace ibemu::daemon {

HostLeases::HostLeases(Loop& loop, Meet meet, Tell tell, Deliver deliver)
    : loop_(loop),
      meet_(std::move(meet)),
      tell_(std::move(tell)),
      deliver_(std::move(deliver)) {}

HostLeases::Lease* HostLeases::Find(uint32_t number) {
  const auto lease = leases_.find(number);
  return lease == leases_.end() ? nullptr : &lease->second;
}

HostLeases::Lease* HostLeases::FindAny(uint32_t number) {
  const auto ending = ending_.find(number);
  return ending == ending_.end() ? Find(number) : &ending->second;
}

absl::Status HostLeases::OnMessage(NodeLinkMessage type, int port,
                                   std::span<const std::byte> payload) {
  if (type == NodeLinkMessage::kLease) return Begin(port, payload);
  IBEMU_ASSIGN_OR_RETURN(const uint32_t number, DecodeNumber(payload));
  switch (type) {
    case NodeLinkMessage::kLeaseUsed:
      OnUsed(number);
      return absl::OkStatus();
    case NodeLinkMessage::kLeaseEnded:
      End(number, absl::OkStatus());
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError("no table of leases says this");
  }
}

absl::Status HostLeases::Begin(int port, std::span<const std::byte> payload) {
  std::string address;
  IBEMU_ASSIGN_OR_RETURN(const NodeLinkLease terms,
                         DecodeLease(payload, address));
  const uint32_t number = terms.number;
  if (!leases_.try_emplace(number, Lease{.terms = terms, .port = port})
           .second) {
    return absl::InvalidArgumentError("a lease is given twice");
  }
  const std::weak_ptr weak(self_);
  meet_(
      terms, address,
      [weak, number] {
        if (const auto self = weak.lock()) (*self)->OnReady(number);
      },
      [weak, number](absl::StatusOr<UniqueFd> socket) {
        if (const auto self = weak.lock()) {
          (*self)->OnMet(number, std::move(socket));
        }
      });
  return absl::OkStatus();
}

void HostLeases::OnUsed(uint32_t number) {
  Lease* const lease = FindAny(number);
  if (lease == nullptr) return;
  lease->used = true;
  Receive(*lease);
}

void HostLeases::RepeatUsed() {
  for (const auto& [kind, number] : sending_) {
    tell_(NodeLinkMessage::kLeaseUsed, kind.first, EncodeNumber(number));
  }
}

void HostLeases::OnReady(uint32_t number) {
  const Lease* const lease = Find(number);
  if (lease == nullptr || !lease->terms.receives) return;
  tell_(NodeLinkMessage::kLeaseReady, lease->port, EncodeNumber(number));
}

void HostLeases::OnMet(uint32_t number, absl::StatusOr<UniqueFd> socket) {
  Lease* const lease = FindAny(number);
  if (lease == nullptr) return;
  if (!socket.ok()) return End(number, socket.status());
  if (lease->terms.receives) {
    lease->socket = *std::move(socket);
    return Receive(*lease);
  }
  if (Find(number) == nullptr) return;  // it has ended, unused
  const absl::Status started = StartSending(number, *std::move(socket));
  if (!started.ok()) End(number, started);
}

absl::Status HostLeases::StartSending(uint32_t number, UniqueFd socket) {
  Lease& lease = leases_.at(number);
  lease.sender = std::make_unique<LeasedSender>(
      loop_, std::move(socket),
      [this, number, port = lease.port](uint64_t packets, uint64_t words) {
        std::vector<std::byte> payload;
        wire::Append(
            NodeLinkLeaseUsage{
                .number = number, .packets = packets, .words = words},
            payload);
        tell_(NodeLinkMessage::kLeaseUsage, port, payload);
      });
  IBEMU_RETURN_IF_ERROR(lease.sender->Start([this, number] {
    End(number, absl::UnavailableError("the other host hung up"));
  }));
  tell_(NodeLinkMessage::kLeaseUsed, lease.port, EncodeNumber(number));
  sending_[{lease.port, KindOf(lease.terms)}] = number;
  return absl::OkStatus();
}

// Not before the other has come and what it sent before is here.
void HostLeases::Receive(Lease& lease) {
  const uint32_t number = lease.terms.number;
  if (!lease.used || !lease.socket.valid()) return;
  lease.receiver = std::make_unique<LeasedReceiver>(
      loop_, std::move(lease.socket), KindOf(lease.terms), lease.terms.mtu,
      [this, port = lease.port](const fabric::Packet& packet) {
        deliver_(port, packet);
      });
  const absl::Status started = lease.receiver->Start(
      [this, number](const absl::Status& why) { End(number, why); });
  if (!started.ok()) End(number, started);
}

bool HostLeases::Send(int port, const fabric::Packet& packet) {
  if (sending_.empty()) return false;
  const std::optional<fabric::PacketKind> kind = fabric::KindOf(packet);
  if (!kind || !GoesByConnection(packet)) return false;
  const auto found = sending_.find({port, *kind});
  if (found == sending_.end()) return false;
  const Lease& lease = leases_.at(found->second);
  if (packet.transport->longest() > lease.terms.mtu) return false;
  lease.sender->Send(port, packet);
  return true;
}

void HostLeases::End(uint32_t number, const absl::Status& why) {
  auto ended = leases_.extract(number);
  if (ended.empty()) return;
  if (!why.ok()) {
    spdlog::debug("lease {} ends: {}", number, std::string(why.message()));
  }
  absl::erase_if(sending_,
                 [&](const auto& entry) { return entry.second == number; });
  const Lease& lease = ended.mapped();
  if (lease.sender != nullptr) lease.sender->Finish();
  tell_(NodeLinkMessage::kLeaseEnded, lease.port, EncodeNumber(number));
  ending_.insert(std::move(ended));
  loop_.RunAfter(kEndsWithin, [weak = std::weak_ptr(self_), number] {
    if (const auto self = weak.lock()) (*self)->ending_.erase(number);
  });
}

}  // namespace ibemu::daemon
