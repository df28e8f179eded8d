#include "fabric/agents/congestion_control.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "mad/wire/class_port_info.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::CaCongestionSetting, mad::CongestionControlTable,
    mad::CongestionHeader, mad::CongestionInfo, mad::CongestionKeyInfo,
    mad::LocalVerdict, mad::MadHeader, mad::MadStatus, mad::Method,
    mad::SwitchCongestionSetting, mad::SwitchPortCongestionSetting,
    mad::SwitchPortCongestionSettingElement;

// The entries in a block of the congestion control table.
constexpr int kTableBlockEntries = 64;
// The ports in a Set of SwitchPortCongestionSetting.
constexpr int kBlockPorts = 32;
// The answer to a Get of SwitchPortCongestionSetting also holds the ports that
// follow the block: ibccquery takes the whole data as a block of 48 ports.
constexpr int kShownPorts = 48;
constexpr uint8_t kCcResponseTime = 18;
constexpr absl::Duration kTimestampUnit = absl::Nanoseconds(1024);

// Returns false for attributes that only the other kind of node has.
bool Has(const Node& node, AttributeId attribute) {
  switch (attribute) {
    case AttributeId::kSwitchCongestionSetting:
    case AttributeId::kSwitchPortCongestionSetting:
      return node.is_switch();
    case AttributeId::kCaCongestionSetting:
    case AttributeId::kCongestionControlTable:
      return !node.is_switch();
    default:
      return true;
  }
}

}  // namespace

struct CongestionControl::State {
  CongestionKeyInfo key;
  absl::Time lease_end = absl::InfiniteFuture();
  SwitchCongestionSetting sw;
  std::vector<SwitchPortCongestionSettingElement> ports;  // from port 0
  CaCongestionSetting ca;
  uint16_t ccti_limit = 0;
  std::array<CongestionControlTable, kTableBlocks> table;
};

CongestionControl::CongestionControl(Subnet& subnet, Timers& timers)
    : subnet_(subnet), timers_(timers), start_(timers.Now()) {}

CongestionControl::~CongestionControl() = default;

CongestionControl::State& CongestionControl::StateOf(PortId port) {
  std::unique_ptr<State>& state = states_[port];
  if (!state) {
    state = std::make_unique<State>();
    const Node& node = subnet_.NodeOf(port);
    if (node.is_switch()) state->ports.resize(size_t{node.port_count} + 1);
  }
  return *state;
}

LocalVerdict CongestionControl::Handle(PortId port, const mad::Arrival& request,
                                       mad::MadBytes& reply) {
  const auto header = wire::Decode<CongestionHeader>(request.mad);
  const bool set = header.mad.method == Method::kSet;
  if (!set && header.mad.method != Method::kGet) {
    return LocalVerdict::kUnhandled;
  }
  reply = request.mad;
  MadStatus status = MadStatus::kUnsupportedVersion;
  if (header.mad.class_version == mad::kCongestionClassVersion) {
    if (!KeyFits(StateOf(port), header)) return LocalVerdict::kConsumed;
    if (!Has(subnet_.NodeOf(port), header.mad.attr_id)) {
      status = MadStatus::kUnsupportedAttribute;
    } else {
      status = set ? Set(port, header, reply) : Get(port, header, reply);
    }
  }
  wire::Put<&MadHeader::method>(reply, Method::kGetResp);
  wire::Put<&MadHeader::status>(reply, status);
  return LocalVerdict::kReply;
}

// Checks the CC_Key with the rules of M_Keys: a Set needs the key, and once the
// lease has run out the protection ends, so that a lost key can be read.
bool CongestionControl::KeyFits(State& state, const CongestionHeader& header) {
  CongestionKeyInfo& key = state.key;
  if (timers_.Now() >= state.lease_end) {
    key.protect_bit = false;
    state.lease_end = absl::InfiniteFuture();
  }
  if (key.cc_key == 0 || key.cc_key == header.cc_key) {
    state.lease_end = absl::InfiniteFuture();
    return true;
  }
  if (header.mad.method == Method::kGet) return true;
  if (key.violations != std::numeric_limits<uint16_t>::max()) ++key.violations;
  if (key.lease_period != 0 && state.lease_end == absl::InfiniteFuture()) {
    state.lease_end = timers_.Now() + absl::Seconds(key.lease_period);
  }
  return false;
}

uint32_t CongestionControl::Timestamp() const {
  return static_cast<uint32_t>((timers_.Now() - start_) / kTimestampUnit);
}

MadStatus CongestionControl::Get(PortId port, const CongestionHeader& header,
                                 std::span<std::byte> mad) {
  const State& state = StateOf(port);
  const bool is_switch = subnet_.NodeOf(port).is_switch();
  const std::span<std::byte> data = mad.subspan(mad::kCongestionDataOffset);
  const uint32_t block = header.mad.attr_mod;
  std::ranges::fill(data, std::byte{0});
  switch (header.mad.attr_id) {
    case AttributeId::kClassPortInfo: {
      mad::ClassPortInfo info;
      info.class_version = mad::kCongestionClassVersion;
      info.resp_time_value = kCcResponseTime;
      wire::Encode(info, data);
      return MadStatus::kOk;
    }
    case AttributeId::kCongestionInfo: {
      CongestionInfo info;
      info.control_table_cap = is_switch ? 0 : kTableBlocks;
      wire::Encode(info, data);
      return MadStatus::kOk;
    }
    case AttributeId::kCongestionKeyInfo: {
      CongestionKeyInfo info = state.key;
      if (info.protect_bit && info.cc_key != header.cc_key) info.cc_key = 0;
      wire::Encode(info, data);
      return MadStatus::kOk;
    }
    case AttributeId::kCongestionLog: {
      const std::span<std::byte> log = mad.subspan(mad::kCongestionLogOffset);
      std::ranges::fill(log, std::byte{0});
      if (is_switch) {
        mad::CongestionLogSwitch empty;
        empty.current_timestamp = Timestamp();
        wire::Encode(empty, log);
      } else {
        mad::CongestionLogCa empty;
        empty.current_timestamp = Timestamp();
        wire::Encode(empty, log);
      }
      return MadStatus::kOk;
    }
    case AttributeId::kSwitchCongestionSetting:
      wire::Encode(state.sw, data);
      return MadStatus::kOk;
    case AttributeId::kSwitchPortCongestionSetting: {
      const size_t first = size_t{block} * kBlockPorts;
      if (first >= state.ports.size()) return MadStatus::kInvalidField;
      const size_t count =
          std::min<size_t>(state.ports.size() - first, kShownPorts);
      for (size_t i = 0; i < count; ++i) {
        wire::Encode(state.ports[first + i], data.subspan(i * 4));
      }
      return MadStatus::kOk;
    }
    case AttributeId::kCaCongestionSetting:
      wire::Encode(state.ca, data);
      return MadStatus::kOk;
    case AttributeId::kCongestionControlTable: {
      if (block >= kTableBlocks) return MadStatus::kInvalidField;
      CongestionControlTable table = state.table[block];
      table.ccti_limit = state.ccti_limit;
      wire::Encode(table, data);
      return MadStatus::kOk;
    }
    case AttributeId::kTimestamp:
      wire::Encode(mad::CongestionTimestamp{.timestamp = Timestamp()}, data);
      return MadStatus::kOk;
    default:
      return MadStatus::kUnsupportedAttribute;
  }
}

MadStatus CongestionControl::Set(PortId port, const CongestionHeader& header,
                                 std::span<std::byte> mad) {
  State& state = StateOf(port);
  const std::span<std::byte> data = mad.subspan(mad::kCongestionDataOffset);
  const uint32_t block = header.mad.attr_mod;
  switch (header.mad.attr_id) {
    case AttributeId::kCongestionKeyInfo: {
      auto wanted = wire::Decode<CongestionKeyInfo>(data);
      // Writing 0 clears the count, anything else keeps it.
      if (wanted.violations != 0) wanted.violations = state.key.violations;
      state.key = wanted;
      state.lease_end = absl::InfiniteFuture();
      wire::Encode(state.key, data);
      return MadStatus::kOk;
    }
    case AttributeId::kSwitchCongestionSetting:
      state.sw = wire::Decode<SwitchCongestionSetting>(data);
      return MadStatus::kOk;
    case AttributeId::kSwitchPortCongestionSetting: {
      const size_t first = size_t{block} * kBlockPorts;
      if (first >= state.ports.size()) return MadStatus::kInvalidField;
      const auto wanted = wire::Decode<SwitchPortCongestionSetting>(data);
      const size_t count =
          std::min<size_t>(state.ports.size() - first, kBlockPorts);
      std::copy_n(wanted.elements.begin(), count,
                  state.ports.begin() + static_cast<ptrdiff_t>(first));
      return MadStatus::kOk;
    }
    case AttributeId::kCaCongestionSetting:
      state.ca = wire::Decode<CaCongestionSetting>(data);
      return MadStatus::kOk;
    case AttributeId::kCongestionControlTable: {
      const auto wanted = wire::Decode<CongestionControlTable>(data);
      if (block >= kTableBlocks ||
          wanted.ccti_limit >= kTableBlocks * kTableBlockEntries) {
        return MadStatus::kInvalidField;
      }
      state.table[block] = wanted;
      state.ccti_limit = wanted.ccti_limit;
      return MadStatus::kOk;
    }
    default:
      return MadStatus::kUnsupportedAttribute;
  }
}

}  // namespace ibemu::fabric
