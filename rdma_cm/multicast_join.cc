#include "rdma_cm/multicast_join.h"

#include <utility>

#include "ipoib/multicast_gid.h"
#include "mad/wire/sa_component_mask.h"
#include "rdma_cm/address_attributes.h"
#include "rdma_cm/values/status_of.h"

namespace ibemu::rdma_cm {
namespace {

using Record = mad::McMemberRecord;

constexpr uint64_t kUsualMask =
    mad::kComponentBit<&Record::mgid> | mad::kComponentBit<&Record::port_gid> |
    mad::kComponentBit<&Record::join_state> |
    mad::kComponentBit<&Record::p_key> | mad::kComponentBit<&Record::q_key> |
    mad::kComponentBit<&Record::sl> | mad::kComponentBit<&Record::flow_label> |
    mad::kComponentBit<&Record::traffic_class>;
static_assert(kUsualMask == 0x130c7);

// What members of IPoIB's groups must agree in, too.
constexpr uint64_t kIpoibMask =
    kUsualMask | mad::kComponentBit<&Record::rate_selector> |
    mad::kComponentBit<&Record::rate> |
    mad::kComponentBit<&Record::mtu_selector> |
    mad::kComponentBit<&Record::mtu> | mad::kComponentBit<&Record::hop_limit>;
static_assert(kIpoibMask == 0x173f7);

constexpr uint32_t kMulticastQpn = 0xffffff;

// Whether it is the MGID of a group that an SA made: ff1x:a01b::.
bool IsChosenBySa(const wire::IpAddress& group) {
  return group.bytes[0] == 0xff && (group.bytes[1] & 0xf0) == 0x10 &&
         group.bytes[2] == 0xa0 && group.bytes[3] == 0x1b;
}

}  // namespace

wire::Gid GroupGidOf(const SocketAddress& group, const wire::Gid& broadcast,
                     PortSpace space) {
  if (group.family == Family::kIb) return group.gid;
  if (group.IsWildcard()) return {};
  if (!group.ip.is_ipv4() && IsChosenBySa(group.ip)) {
    return wire::Decode<wire::Gid>(std::as_bytes(std::span(group.ip.bytes)));
  }
  return ipoib::GroupGid(group.ip, broadcast,
                         space == PortSpace::kUdp ? ipoib::GroupOwner::kRdmaCm
                                                  : ipoib::GroupOwner::kIpoib);
}

MulticastJoin::MulticastJoin(const LocalPort& port, const Record& broadcast,
                             const Terms& terms,
                             std::function<void(Event)> told)
    : port_(port),
      group_(terms.group),
      mgid_(GroupGidOf(terms.group, broadcast.mgid, terms.space)),
      qkey_(terms.qkey),
      told_(std::move(told)) {
  Record record = broadcast;
  record.mgid = mgid_;
  record.port_gid = port.gid;
  record.q_key = terms.qkey;
  record.p_key = port.pkey;
  record.join_state = terms.join_state;
  record.mtu_selector = mad::Selector::kExactly;
  record.rate_selector = mad::Selector::kExactly;
  membership_ =
      port.adapter->members(port.number)
          .Join(record,
                terms.space == PortSpace::kIpoib ? kIpoibMask : kUsualMask,
                [this](const absl::StatusOr<Record>& now) { OnChange(now); });
}

MulticastJoin::~MulticastJoin() {
  if (is_member_) Report(GroupNews::State::kLeft);
}

void MulticastJoin::Report(GroupNews::State state, int status) const {
  ConnectionWatcher* const watcher = port_.adapter->ids().watcher();
  if (watcher == nullptr) return;
  watcher->OnGroup({.state = state,
                    .port = port_,
                    .group = group_,
                    .mgid = mgid_,
                    .status = status});
}

void MulticastJoin::OnChange(const absl::StatusOr<Record>& record) {
  is_member_ = record.ok();
  if (!record.ok()) {
    Report(GroupNews::State::kFailed, StatusOf(record.status()));
    return told_({.type = EventType::kMulticastError,
                  .status = StatusOf(record.status())});
  }
  mgid_ = record->mgid;
  Report(GroupNews::State::kJoined);
  told_(
      {.type = EventType::kMulticastJoin,
       .parameters = DatagramParameters{.qp_num = kMulticastQpn,
                                        .qkey = qkey_,
                                        .address = AddressOf(port_, *record)}});
}

}  // namespace ibemu::rdma_cm
