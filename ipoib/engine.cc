#include "ipoib/engine.h"

#include <algorithm>
#include <utility>

#include "ipoib/address_attributes.h"
#include "ipoib/echo.h"
#include "ipoib/multicast_gid.h"
#include "mad/wire/sa_component_mask.h"

namespace ibemu::ipoib {
namespace {

using Record = mad::McMemberRecord;
using mad::kComponentBit;

constexpr uint16_t kFullMember = 0x8000;  // of a P_Key
constexpr uint32_t kMulticastQpn = 0xffffff;
constexpr uint32_t kPsnCount = 1 << 24;

// A join of the broadcast group does not suffice to make it, one of another
// group does.
constexpr uint64_t kBroadcastMask =
    kComponentBit<&Record::mgid> | kComponentBit<&Record::port_gid> |
    kComponentBit<&Record::p_key> | kComponentBit<&Record::join_state>;
static_assert(kBroadcastMask == 0x10083);
constexpr uint64_t kGroupMask =
    kBroadcastMask | kComponentBit<&Record::q_key> |
    kComponentBit<&Record::mtu_selector> | kComponentBit<&Record::mtu> |
    kComponentBit<&Record::traffic_class> |
    kComponentBit<&Record::rate_selector> | kComponentBit<&Record::rate> |
    kComponentBit<&Record::sl> | kComponentBit<&Record::flow_label> |
    kComponentBit<&Record::hop_limit>;
static_assert(kGroupMask == 0x173f7);

// The codes of IBA: 256 bytes to 4,096.
bool HasMtu(const Record& group) { return group.mtu >= 1 && group.mtu <= 5; }

// REQUIRES: HasMtu().
size_t BytesOfMtu(const Record& group) { return size_t{128} << group.mtu; }

}  // namespace

Engine::Engine(const Ground& ground, Random random,
               std::vector<wire::IpNetwork> addresses)
    : ground_(ground),
      addresses_(std::move(addresses)),
      first_psn_(static_cast<uint32_t>(random.Below(kPsnCount))),
      born_(ground.timers.Now()),
      unicast_(ground.sa, ground.port,
               [this](const verbs::AddressAttributes& to, uint32_t qpn,
                      const std::vector<std::byte>& packet) {
                 queue_->Send(to, qpn, packet);
               }),
      neighbors_(ground.timers, *this),
      broadcast_(
          ground.timers, ground.members, kBroadcastMask,
          [this](const Record* group) { OnBroadcastGroup(group); }, HasMtu) {
  ground_.provider.AddListener(*this);
  gone_ = ground_.host.removed();
  Refresh();
}

Engine::~Engine() {
  ground_.provider.RemoveListener(*this);
  for (const Waiting& waiting : waiting_) ground_.timers.Cancel(waiting.timer);
}

wire::Gid Engine::gid() const { return port().GidAt(0); }

uint16_t Engine::pkey() const {
  return static_cast<uint16_t>(port().PKeyAt(0) | kFullMember);
}

bool Engine::up() const {
  return !gone_ && queue_ != nullptr && broadcast_group() != nullptr &&
         port().Info().port_state == mad::PortState::kActive;
}

std::unique_ptr<Resolution> Engine::Resolve(const wire::IpAddress& address,
                                            absl::Duration timeout,
                                            NeighborTable::Done done) {
  if (gone_) {
    return neighbors_.Answer(absl::UnavailableError("the device is gone"),
                             std::move(done));
  }
  if (IsOwn(address)) return neighbors_.Answer(gid(), std::move(done));
  return neighbors_.Resolve(address, timeout, std::move(done));
}

void Engine::WhenUp(absl::Duration patience, absl::AnyInvocable<void()> task) {
  const absl::Duration left = born_ + patience - ground_.timers.Now();
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
  ground_.timers.Cancel(waiting->timer);
  waiting->timer = ground_.timers.RunAfter(delay, [this, waiting] {
    auto task = std::move(waiting->task);
    waiting_.erase(waiting);
    task();
  });
}

bool Engine::IsOwn(const wire::IpAddress& address) const {
  return std::ranges::any_of(addresses_, [&](const wire::IpNetwork& own) {
    return own.address == address;
  });
}

// Returns the own address from which `target` is asked for: one of its network,
// or else any of its version; null if there is none.
const wire::IpAddress* Engine::SourceFor(const wire::IpAddress& target) const {
  const wire::IpAddress* source = nullptr;
  for (const wire::IpNetwork& own : addresses_) {
    if (own.Contains(target)) return &own.address;
    if (source == nullptr && own.address.version == target.version) {
      source = &own.address;
    }
  }
  return source;
}

HardwareAddress Engine::hardware_address() const {
  return {.qpn = queue_->qpn(), .gid = gid()};
}

void Engine::OnDeviceEvent(verbs::EventType type, int port) {
  if (type == verbs::EventType::kDeviceFatal) {
    gone_ = true;
    RefreshSoon();
  } else if (port == ground_.port) {
    RefreshSoon();
  }
}

// An event may come in the middle of a call, and others with it.
void Engine::RefreshSoon() {
  if (std::exchange(refreshing_, true)) return;
  ground_.timers.RunSoon([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->Refresh();
  });
}

void Engine::Refresh() {
  refreshing_ = false;
  neighbors_.Forget();
  unicast_.Forget();
  if (gone_) {
    broadcast_.Stop();
    neighbors_.Fail(absl::UnavailableError("the device is gone"));
  } else if (port().Info().port_state == mad::PortState::kActive) {
    broadcast_.Start({.mgid = BroadcastGid(pkey()),
                      .port_gid = gid(),
                      .p_key = pkey(),
                      .join_state = mad::kFullMember});
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
  if (group == nullptr || !OpenQueue(*group) || !Attach(*group)) return;
  StartSolicitedGroups();
  neighbors_.AskAgain();
  RunWaiting();
}

// Makes a queue pair as the group wants it, if there is none.
bool Engine::OpenQueue(const Record& broadcast) {
  const DatagramQueue::Options options{.port = ground_.port,
                                       .q_key = broadcast.q_key,
                                       .first_psn = first_psn_,
                                       .mtu = BytesOfMtu(broadcast)};
  if (queue_ != nullptr && queue_->options() == options) return true;
  queue_.reset();
  auto queue =
      DatagramQueue::Create(ground_.timers, ground_.provider, options, *this);
  if (!queue.ok()) return false;
  queue_ = *std::move(queue);
  return true;
}

bool Engine::Attach(const Record& group) {
  if (!queue_->Attach(group.mgid, group.mlid).ok()) return false;
  attached_.emplace_back(group.mgid, group.mlid);
  return true;
}

void Engine::DetachAll() {
  for (const auto& [mgid, mlid] : std::exchange(attached_, {})) {
    queue_->Detach(mgid, mlid);
  }
}

void Engine::StartSolicitedGroups() {
  for (const wire::IpNetwork& own : addresses_) {
    if (own.address.is_ipv4()) continue;
    solicited_groups_.push_back(std::make_unique<SteadyMembership>(
        ground_.timers, ground_.members, kGroupMask,
        [this](const Record* group) {
          if (group != nullptr) Attach(*group);
        }));
    solicited_groups_.back()->Start(GroupLikeBroadcast(
        SolicitedNodeAddress(own.address), mad::kFullMember));
  }
}

// Returns the record to join the group of a multicast address with.
Record Engine::GroupLikeBroadcast(const wire::IpAddress& address,
                                  uint8_t join_state) const {
  const Record& broadcast = *broadcast_group();
  return {.mgid = GroupGid(address, broadcast.mgid),
          .port_gid = gid(),
          .q_key = broadcast.q_key,
          .mtu_selector = mad::Selector::kExactly,
          .mtu = broadcast.mtu,
          .traffic_class = broadcast.traffic_class,
          .p_key = broadcast.p_key,
          .rate_selector = mad::Selector::kExactly,
          .rate = broadcast.rate,
          .sl = broadcast.sl,
          .flow_label = broadcast.flow_label,
          .hop_limit = broadcast.hop_limit,
          .join_state = join_state};
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
  queue_->Send(AddressOf(group, ground_.port), kMulticastQpn, packet);
}

void Engine::JoinAskedGroup(const wire::IpAddress& address) {
  asked_groups_[address].membership = ground_.members.Join(
      GroupLikeBroadcast(SolicitedNodeAddress(address),
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
  if (const auto message = DecodeNeighborMessage(datagram.payload)) {
    return OnNeighborMessage(*message);
  }
  if (const auto answer = AnswerEcho(datagram.payload, addresses_)) {
    // It goes back the way the request came.
    verbs::AddressAttributes back{};
    back.dlid = datagram.slid;
    back.sl = datagram.sl;
    back.src_path_bits = datagram.path_bits;
    back.port_num = static_cast<uint8_t>(ground_.port);
    queue_->Send(back, datagram.source_qpn, *answer);
  }
}

void Engine::OnNeighborMessage(const NeighborMessage& message) {
  const wire::Gid& from = message.sender_hardware.gid;
  if (from == wire::Gid{} || wire::IsMulticast(from)) return;
  if (!IsOwn(message.sender)) neighbors_.Learn(message.sender, from);
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
