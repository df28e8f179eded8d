// SmInfo: IBA vol 1 §14.2.5.13.
#ifndef IBEMU_MAD_WIRE_SM_INFO_H_
#define IBEMU_MAD_WIRE_SM_INFO_H_

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The state of a subnet manager among others (§14.4.1).
enum class SmState : uint8_t {
  kNotActive = 0,
  kDiscovering = 1,
  kStandby = 2,
  kMaster = 3,
};

// The state of a subnet manager.  In a Set, the attribute modifier is the
// control packet (§14.4.1).
struct SmInfo {
  static constexpr AttributeId kId = AttributeId::kSmInfo;
  static constexpr int kBits = 168;

  wire::Guid guid{};
  uint64_t sm_key = 0;
  uint32_t act_count = 0;
  uint8_t priority = 0;
  SmState sm_state{};

  bool operator==(const SmInfo&) const = default;

  static constexpr auto Layout() {
    using T = SmInfo;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::guid, "GUID", 64, 0), Ro(&T::sm_key, "SM_Key", 64, 64),
        Ro(&T::act_count, "ActCount", 32, 128),
        Ro(&T::priority, "Priority", 4, 160),
        Ro(&T::sm_state, "SMState", 4, 164));
  }
};
static_assert(wire::Tiles<SmInfo>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SM_INFO_H_
