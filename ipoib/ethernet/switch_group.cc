#include "ipoib/ethernet/switch_group.h"

namespace ibemu::ipoib {
namespace {

constexpr uint64_t kSignature = 0x4554;  // "ET"
constexpr uint32_t kQKey = 0x4554'0001;
constexpr uint8_t kMtu2048 = 4, kRate10Gbps = 3;

}  // namespace

wire::Gid SwitchGid(std::string_view name, uint16_t pkey) {
  const auto at = [name](size_t i) {
    return i < name.size() ? uint64_t{static_cast<uint8_t>(name[i])} : 0;
  };
  wire::Gid gid{.prefix = uint64_t{0xff12} << 48 | kSignature << 32 |
                          uint64_t{pkey} << 16 | at(0) << 8 | at(1),
                .interface_id = 0};
  for (size_t i = 2; i < kLongestSwitchName; ++i) {
    gid.interface_id = gid.interface_id << 8 | at(i);
  }
  return gid;
}

mad::McMemberRecord SwitchGroup(std::string_view name, uint16_t pkey,
                                const wire::Gid& port) {
  return {.mgid = SwitchGid(name, pkey),
          .port_gid = port,
          .q_key = kQKey,
          .mtu_selector = mad::Selector::kExactly,
          .mtu = kMtu2048,
          .p_key = pkey,
          .rate_selector = mad::Selector::kExactly,
          .rate = kRate10Gbps,
          .join_state = mad::kFullMember};
}

}  // namespace ibemu::ipoib
