#include "ipoib/ethernet/switch_port.h"

#include <limits>
#include <utility>
#include <vector>

#include "ipoib/address_attributes.h"
#include "ipoib/ethernet/switch_group.h"
#include "ipoib/group_record.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint16_t kFullMember = 0x8000;  // of a P_Key
constexpr uint32_t kMulticastQpn = 0xffffff;
constexpr DatagramQueue::Depth kDepth{.receives = 512, .sends = 128};

std::optional<EthernetHeader> HeaderOf(Bytes frame) {
  if (frame.size() < wire::kBytes<EthernetHeader>) return std::nullopt;
  return wire::Decode<EthernetHeader>(frame);
}

// One with another MTU was made by somebody else.
bool IsAsMade(const mad::McMemberRecord& group) {
  return HasMtu(group) && BytesOfMtu(group) == SwitchPort::kLongestFrame +
                                                   wire::kBytes<Encapsulation>;
}

// The way back to who sent a datagram.
verbs::AddressAttributes AddressOf(const StationTable::Place& place, int port) {
  verbs::AddressAttributes address{};
  address.dlid = place.lid;
  address.sl = place.sl;
  address.src_path_bits = place.path_bits;
  address.port_num = static_cast<uint8_t>(port);
  return address;
}

}  // namespace

SwitchPort::SwitchPort(const Parts& parts, std::string name, Device& device)
    : parts_(parts),
      name_(std::move(name)),
      device_(device),
      stations_(parts.timers),
      group_(
          parts.timers, parts.members, kGroupMask,
          [this](const mad::McMemberRecord* group) { OnGroup(group); },
          IsAsMade) {
  parts_.provider.AddListener(*this);
  gone_ = parts_.host.removed();
  Refresh();
}

SwitchPort::~SwitchPort() { parts_.provider.RemoveListener(*this); }

bool SwitchPort::IsActive() const {
  return !gone_ && port().Info().port_state == mad::PortState::kActive;
}

bool SwitchPort::up() const { return IsActive() && attached_.has_value(); }

uint16_t SwitchPort::pkey() const {
  return static_cast<uint16_t>(port().PKeyAt(0) | kFullMember);
}

std::optional<uint16_t> SwitchPort::PKeyIndex() const {
  return mad::PKeyIndexOf(port(), pkey());
}

MacAddress SwitchPort::mac() const {
  constexpr uint8_t kLocallyAdministered = 2;
  const uint64_t guid = port().GidAt(0).interface_id;
  MacAddress mac{kLocallyAdministered};
  for (size_t i = 1; i < mac.size(); ++i) {
    mac[i] = static_cast<uint8_t>(guid >> (8 * (mac.size() - 1 - i)));
  }
  return mac;
}

void SwitchPort::OnDeviceEvent(verbs::AsyncEventType type, int port) {
  if (type == verbs::AsyncEventType::kDeviceFatal) gone_ = true;
  if (gone_ || port == parts_.port) refresh_.Request();
}

void SwitchPort::Refresh() {
  stations_.Forget();
  const auto pkey_index = PKeyIndex();
  if (!IsActive() || !pkey_index) return group_.Stop();
  group_.Start(SwitchGroup(name_, pkey(), port().GidAt(0)));
  const bool moved = attached_ && queue_->options().pkey_index != *pkey_index;
  if (moved) OnGroup(group_.record());
}

void SwitchPort::OnGroup(const mad::McMemberRecord* group) {
  if (attached_) queue_->Detach(attached_->first, attached_->second);
  attached_.reset();
  const auto pkey_index = PKeyIndex();
  if (group != nullptr && pkey_index && OpenQueue(*group, *pkey_index) &&
      queue_->Attach(group->mgid, group->mlid).ok()) {
    attached_.emplace(group->mgid, group->mlid);
  }
  if (up()) Announce();
  device_.OnLinkChange();
}

// Makes a queue pair, if there is none that will do: the others know it.
bool SwitchPort::OpenQueue(const mad::McMemberRecord& group,
                           uint16_t pkey_index) {
  const DatagramQueue::Options options{.port = parts_.port,
                                       .pkey_index = pkey_index,
                                       .q_key = group.q_key,
                                       .mtu = BytesOfMtu(group),
                                       .depth = kDepth};
  if (queue_ != nullptr && queue_->options() == options) return true;
  queue_.reset();
  auto queue =
      DatagramQueue::Create(parts_.timers, parts_.provider, options, *this);
  if (!queue.ok()) return false;
  queue_ = *std::move(queue);
  return true;
}

// Tells all others where the kernel's own address is now: an empty frame of an
// EtherType for experiments, which no kernel takes.
void SwitchPort::Announce() {
  MacAddress everybody;
  everybody.fill(0xff);
  std::vector<std::byte> datagram;
  wire::Append(Encapsulation{EtherType::kTransparentBridging}, datagram);
  wire::Append(EthernetHeader{everybody, mac(), EtherType::kExperiment},
               datagram);
  queue_->Send(ipoib::AddressOf(*group_.record(), parts_.port), kMulticastQpn,
               datagram);
}

size_t SwitchPort::room() const {
  return up() ? queue_->room() : std::numeric_limits<size_t>::max();
}

void SwitchPort::Send(Bytes frame) {
  const auto header = HeaderOf(frame);
  if (!header || !up() || frame.size() > kLongestFrame) {
    ++counters_.dropped;
    return;
  }
  ++counters_.sent;
  counters_.sent_bytes += frame.size();
  std::vector<std::byte> datagram;
  datagram.reserve(wire::kBytes<Encapsulation> + frame.size());
  wire::Append(Encapsulation{EtherType::kTransparentBridging}, datagram);
  datagram.insert(datagram.end(), frame.begin(), frame.end());
  const StationTable::Place* const place =
      IsGroup(header->destination) ? nullptr
                                   : stations_.Find(header->destination);
  if (place != nullptr) {
    return queue_->Send(AddressOf(*place, parts_.port), place->qpn, datagram);
  }
  ++flooded_;
  queue_->Send(ipoib::AddressOf(*group_.record(), parts_.port), kMulticastQpn,
               datagram);
}

void SwitchPort::OnDatagram(const DatagramQueue::Datagram& datagram) {
  const bool own = datagram.source_qpn == queue_->qpn() &&
                   wire::Lid{datagram.slid} == port().Info().lid;
  if (own || datagram.payload.size() < wire::kBytes<Encapsulation> ||
      wire::Get<&Encapsulation::type>(datagram.payload) !=
          EtherType::kTransparentBridging) {
    return;
  }
  const Bytes frame = datagram.payload.subspan(wire::kBytes<Encapsulation>);
  const auto header = HeaderOf(frame);
  if (!header || IsGroup(header->source)) return;
  stations_.Learn(header->source, {.lid = datagram.slid,
                                   .sl = datagram.sl,
                                   .path_bits = datagram.path_bits,
                                   .qpn = datagram.source_qpn});
  // An announcement; with more it is a program's own.
  if (header->type == EtherType::kExperiment &&
      frame.size() == wire::kBytes<EthernetHeader>) {
    return;
  }
  ++counters_.received;
  counters_.received_bytes += frame.size();
  device_.Receive(frame);
}

}  // namespace ibemu::ipoib
