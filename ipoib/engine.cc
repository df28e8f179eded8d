#include "ipoib/engine.h"

#include <array>
#include <utility>

#include "ipoib/address_attributes.h"
#include "ipoib/echo.h"
#include "ipoib/group_record.h"
#include "ipoib/multicast_gid.h"

namespace ibemu::ipoib {
namespace {

using Record = mad::McMemberRecord;

constexpr uint16_t kFullMember = 0x8000;  // of a P_Key
constexpr uint32_t kMulticastQpn = 0xffffff;
constexpr uint32_t kPsnCount = 1 << 24;

// The datagrams that may wait to be received and to be sent: of ARP and ND
// alone, and with a user.
constexpr DatagramQueue::Depth kFew{.receives = 64, .sends = 16};
constexpr DatagramQueue::Depth kMany{.receives = 512, .sends = 128};

// The address that Linux gives an interface, with the port's GUID in it.
wire::IpNetwork LinkLocal(const wire::Gid& gid) {
  constexpr uint64_t kUniversal = uint64_t{1} << 57;
  std::array<uint8_t, 16> bytes{0xfe, 0x80};
  for (size_t i = 0; i < 8; ++i) {
    bytes[8 + i] =
        static_cast<uint8_t>((gid.interface_id | kUniversal) >> (56 - 8 * i));
  }
  return {wire::IpAddress::Ipv6(bytes), 64};
}

}  // namespace

Engine::Engine(const Parts& parts, Random random,
               std::vector<wire::IpNetwork> addresses)
    : parts_(parts),
      addresses_(std::move(addresses)),
      own_addresses_(addresses_),
      first_psn_(static_cast<uint32_t>(random.Below(kPsnCount))),
      born_(parts.timers.Now()),
      unicast_(parts.sa, parts.port,
               [this](const verbs::AddressAttributes& to, uint32_t qpn,
                      const std::vector<std::byte>& packet) {
                 queue_->Send(to, qpn, packet);
               }),
      neighbors_(parts.timers, *this),
      broadcast_(
          parts.timers, parts.members, kBroadcastMask,
          [this](const Record* group) { OnBroadcastGroup(group); }, HasMtu) {
  parts_.provider.AddListener(*this);
  gone_ = parts_.host.removed();
  Refresh();
}

Engine::~Engine() {
  parts_.provider.RemoveListener(*this);
  for (const Waiting& waiting : waiting_) parts_.timers.Cancel(waiting.timer);
}

wire::Gid Engine::gid() const { return port().GidAt(0); }

uint16_t Engine::pkey() const {
  const uint16_t partition =
      parts_.partition != 0 ? parts_.partition : port().PKeyAt(0);
  return static_cast<uint16_t>(partition | kFullMember);
}

std::optional<uint16_t> Engine::PKeyIndex() const {
  return mad::PKeyIndexOf(port(), pkey());
}

bool Engine::up() const {
  return !gone_ && queue_ != nullptr && broadcast_group() != nullptr &&
         port().Info().port_state == mad::PortState::kActive;
}

std::unique_ptr<Resolution> Engine::Resolve(
    const wire::IpAddress& address, absl::Duration timeout,
    absl::AnyInvocable<void(absl::StatusOr<wire::Gid>)> done) {
  return ResolveHardware(
      address, timeout,
      [done = std::move(done)](absl::StatusOr<HardwareAddress> answer) mutable {
        if (!answer.ok()) return done(answer.status());
        done(answer->gid);
      });
}

std::unique_ptr<Resolution> Engine::ResolveHardware(
    const wire::IpAddress& address, absl::Duration timeout,
    NeighborTable::Done done) {
  if (gone_) {
    return neighbors_.Answer(absl::UnavailableError("the device is gone"),
                             std::move(done));
  }
  if (IsOwn(address)) {
    return neighbors_.Answer(hardware_address(), std::move(done));
  }
  return neighbors_.Resolve(address, timeout, std::move(done));
}

void Engine::WhenUp(absl::Duration patience, absl::AnyInvocable<void()> task) {
  const absl::Duration left = born_ + patience - parts_.timers.Now();
  const bool waits = !up() && HasLink() && left > absl::ZeroDuration();
  waiting_.push_back({.task = std::move(task)});
  RunAfter(waits ? left : absl::ZeroDuration(), std::prev(waiting_.end()));
}

// Whether the port may become active soon.
bool Engine::HasLink() const {
  return !gone_ &&
         port().Info().port_physical_state == mad::PortPhysicalState::kLinkUp;
}

void Engine::RunWaiting() {
  for (auto waiting = waiting_.begin(); waiting != waiting_.end(); ++waiting) {
    RunAfter(absl::ZeroDuration(), waiting);
  }
}

void Engine::RunAfter(absl::Duration delay, WaitingPlace waiting) {
  parts_.timers.Cancel(waiting->timer);
  waiting->timer = parts_.timers.RunAfter(delay, [this, waiting] {
    auto task = std::move(waiting->task);
    waiting_.erase(waiting);
    task();
  });
}

bool Engine::IsOwn(const wire::IpAddress& address) const {
  return wire::IsOwnAddress(address, own_addresses_);
}

// Returns the own address from which `target` is asked for: one of its network,
// or else any of its version; null if there is none.
const wire::IpAddress* Engine::SourceFor(const wire::IpAddress& target) const {
  const wire::IpAddress* source = nullptr;
  for (const wire::IpNetwork& own : own_addresses_) {
    if (own.Contains(target)) return &own.address;
    if (source == nullptr && own.address.version == target.version) {
      source = &own.address;
    }
  }
  return source;
}

HardwareAddress Engine::hardware_address() const {
  return {.flags = user_ == nullptr ? uint8_t{0} : user_->hardware_flags(),
          .qpn = queue_ == nullptr ? 0 : queue_->qpn(),
          .gid = gid()};
}

void Engine::OnDeviceEvent(verbs::AsyncEventType type, int port) {
  if (type == verbs::AsyncEventType::kDeviceFatal) {
    gone_ = true;
    refresh_.Request();
  } else if (port == parts_.port) {
    refresh_.Request();
  }
}

void Engine::Refresh() {
  neighbors_.Forget();
  unicast_.Forget();
  if (gone_) {
    broadcast_.Stop();
    neighbors_.Fail(absl::UnavailableError("the device is gone"));
  } else if (port().Info().port_state == mad::PortState::kActive &&
             PKeyIndex()) {
    broadcast_.Start({.mgid = BroadcastGid(pkey()),
                      .port_gid = gid(),
                      .p_key = pkey(),
                      .join_state = mad::kFullMember});
    const bool moved = queue_ != nullptr && broadcast_group() != nullptr &&
                       queue_->options().pkey_index != PKeyIndex();
    if (moved) OnBroadcastGroup(broadcast_group());
  } else {
    broadcast_.Stop();
  }
  if (!HasLink()) RunWaiting();
}

void Engine::OnBroadcastGroup(const Record* group) {
  solicited_groups_.clear();
  asked_groups_.clear();
  unicast_.Forget();
  DetachAll();
  if (group != nullptr && OpenQueue(*group)) {
    Attach(*group);
    StartSolicitedGroups();
    neighbors_.AskAgain();
    RunWaiting();
  }
  if (user_ == nullptr) return;
  user_->OnLinkChange();  // which may change the hardware address
  if (up()) Announce();
}

// Makes a queue pair as the group wants it, if there is none.
bool Engine::OpenQueue(const Record& broadcast) {
  // The key of a full member, if there is one besides: as on Linux.
  const std::optional<uint16_t> pkey_index = PKeyIndex();
  if (!pkey_index) return false;
  const DatagramQueue::Options options{.port = parts_.port,
                                       .pkey_index = *pkey_index,
                                       .q_key = broadcast.q_key,
                                       .first_psn = first_psn_,
                                       .mtu = BytesOfMtu(broadcast),
                                       .depth = Depth()};
  if (queue_ != nullptr && queue_->options() == options) return true;
  queue_.reset();
  auto queue =
      DatagramQueue::Create(parts_.timers, parts_.provider, options, *this);
  if (!queue.ok()) return false;
  queue_ = *std::move(queue);
  return true;
}

// It does not shrink when the user goes, for neighbours know its queue pair.
DatagramQueue::Depth Engine::Depth() const {
  const bool deep = queue_ != nullptr && queue_->options().depth == kMany;
  return user_ != nullptr || deep ? kMany : kFew;
}

void Engine::Attach(const Record& group) {
  if (!queue_->Attach(group.mgid, group.mlid).ok()) return;
  attached_.emplace_back(group.mgid, group.mlid);
}

void Engine::Detach(const Record& group) {
  if (std::erase(attached_, std::pair(group.mgid, group.mlid)) == 0) return;
  queue_->Detach(group.mgid, group.mlid);
}

void Engine::DetachAll() {
  for (const auto& [mgid, mlid] : std::exchange(attached_, {})) {
    queue_->Detach(mgid, mlid);
  }
}

void Engine::StartSolicitedGroups() {
  for (const wire::IpNetwork& own : own_addresses_) {
    if (own.address.is_ipv4()) continue;
    solicited_groups_.push_back(Join(SolicitedNodeAddress(own.address),
                                     JoinAs::kReceiver,
                                     [this](const Record* group) {
                                       if (group != nullptr) Attach(*group);
                                     }));
  }
}

std::unique_ptr<SteadyMembership> Engine::Join(
    const wire::IpAddress& group, JoinAs as,
    SteadyMembership::Changed changed) {
  auto membership = std::make_unique<SteadyMembership>(
      parts_.timers, parts_.members, kGroupMask, std::move(changed));
  membership->Start(GroupLike(
      *broadcast_group(), group, gid(),
      as == JoinAs::kReceiver ? mad::kFullMember : mad::kSendOnlyFullMember));
  return membership;
}

void Engine::SetUser(User* user) {
  const uint8_t flags = hardware_address().flags;
  user_ = user;
  own_addresses_ = addresses_;
  if (user != nullptr) own_addresses_.push_back(LinkLocal(gid()));
  if (queue_ == nullptr || broadcast_group() == nullptr) return;
  // The queue pair is another one, for it has to hold more.
  OnBroadcastGroup(broadcast_group());
  if (user == nullptr && flags != 0 && up()) Announce();
}

size_t Engine::mtu() const {
  if (queue_ == nullptr || broadcast_group() == nullptr) return 0;
  return queue_->options().mtu - wire::kBytes<Encapsulation>;
}

// Whoever knows an old hardware address of this interface learns the new one.
void Engine::Announce() {
  for (const wire::IpNetwork& own : addresses_) {
    if (own.address.is_ipv4()) AskBy(*broadcast_group(), own.address);
  }
}

size_t Engine::room() const { return queue_ == nullptr ? 0 : queue_->room(); }

void Engine::OnRoom() {
  if (user_ != nullptr) user_->OnRoom();
}

void Engine::SendTo(const HardwareAddress& neighbor,
                    std::vector<std::byte> datagram) {
  unicast_.Send(gid(), pkey(), neighbor, std::move(datagram));
}

void Engine::SendToGroup(const Record& group,
                         std::span<const std::byte> datagram) {
  queue_->Send(AddressOf(group, parts_.port), kMulticastQpn, datagram);
}

void Engine::Ask(const wire::IpAddress& address) {
  if (!up()) return;  // asked again when it is
  if (address.is_ipv4()) return AskBy(*broadcast_group(), address);
  AskedGroup& asked = asked_groups_[address];
  if (asked.record) return AskBy(*asked.record, address);
  if (asked.membership == nullptr) JoinAskedGroup(address);
}

void Engine::AskBy(const Record& group, const wire::IpAddress& address) {
  const wire::IpAddress* const source = SourceFor(address);
  if (source == nullptr) return;
  const auto packet =
      EncodeNeighborMessage({.kind = NeighborMessage::Kind::kRequest,
                             .sender = *source,
                             .sender_hardware = hardware_address(),
                             .target = address});
  SendToGroup(group, packet);
}

void Engine::JoinAskedGroup(const wire::IpAddress& address) {
  asked_groups_[address].membership = parts_.members.Join(
      GroupLike(*broadcast_group(), SolicitedNodeAddress(address), gid(),
                mad::kSendOnlyFullMember),
      kGroupMask, [this, address](absl::StatusOr<Record> news) {
        AskedGroup& asked = asked_groups_[address];
        if (!news.ok()) {  // the next question tries again
          asked = {};
          return;
        }
        asked.record = *std::move(news);
        AskBy(*asked.record, address);
      });
}

void Engine::StopAsking(const wire::IpAddress& address) {
  asked_groups_.erase(address);
}

void Engine::OnDatagram(const DatagramQueue::Datagram& datagram) {
  const bool own = datagram.source_qpn == queue_->qpn() &&
                   wire::Lid{datagram.slid} == port().Info().lid;
  if (own) return;  // to a group
  if (TakeNeighborMessage(datagram.payload)) return;
  if (user_ != nullptr) {
    if (IsIp(datagram.payload)) {
      user_->OnPacket(datagram.payload.subspan(wire::kBytes<Encapsulation>));
    }
  } else if (const auto answer = AnswerEcho(datagram.payload, addresses_)) {
    // It goes back the way the request came.
    verbs::AddressAttributes back{};
    back.dlid = datagram.slid;
    back.sl = datagram.sl;
    back.src_path_bits = datagram.path_bits;
    back.port_num = static_cast<uint8_t>(parts_.port);
    queue_->Send(back, datagram.source_qpn, *answer);
  }
}

bool Engine::TakeNeighborMessage(std::span<const std::byte> datagram) {
  const auto message = DecodeNeighborMessage(datagram);
  if (message) OnNeighborMessage(*message);
  return message.has_value();
}

void Engine::OnNeighborMessage(const NeighborMessage& message) {
  const wire::Gid& from = message.sender_hardware.gid;
  if (from == wire::Gid{} || wire::IsMulticast(from)) return;
  if (!IsOwn(message.sender)) {
    neighbors_.Learn(message.sender, message.sender_hardware);
    if (user_ != nullptr) user_->OnNeighbor(message.sender_hardware);
  }
  if (message.kind != NeighborMessage::Kind::kRequest ||
      !IsOwn(message.target)) {
    return;
  }
  unicast_.Send(
      gid(), pkey(), message.sender_hardware,
      EncodeNeighborMessage({.kind = NeighborMessage::Kind::kReply,
                             .sender = message.target,
                             .sender_hardware = hardware_address(),
                             .target = message.sender,
                             .target_hardware = message.sender_hardware}));
}

}  // namespace ibemu::ipoib
