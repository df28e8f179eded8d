// ClassPortInfo: IBA vol 1 §13.4.8.1.
#ifndef IBEMU_MAD_WIRE_CLASS_PORT_INFO_H_
#define IBEMU_MAD_WIRE_CLASS_PORT_INFO_H_

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The description of a class's agent: its abilities, the address for requests
// to it, and the address for its traps.
struct ClassPortInfo {
  static constexpr AttributeId kId = AttributeId::kClassPortInfo;
  static constexpr int kBits = 576;

  uint8_t base_version = 1;
  uint8_t class_version = 1;
  uint16_t capability_mask = 0;  // bit 0: traps, bit 1: Get/Set(Notice)
  uint32_t capability_mask2 = 0;
  uint8_t resp_time_value = 0;  // 4.096 us * 2^n
  wire::Gid redirect_gid{};
  uint8_t redirect_tc = 0;
  uint8_t redirect_sl = 0;
  uint32_t redirect_fl = 0;
  wire::Lid redirect_lid{};
  uint16_t redirect_p_key = 0;
  uint32_t redirect_qp = 0;
  uint32_t redirect_q_key = 0;
  wire::Gid trap_gid{};
  uint8_t trap_tc = 0;
  uint8_t trap_sl = 0;
  uint32_t trap_fl = 0;
  wire::Lid trap_lid{};
  uint16_t trap_p_key = 0;
  uint8_t trap_hl = 0;
  uint32_t trap_qp = 0;
  uint32_t trap_q_key = 0;

  bool operator==(const ClassPortInfo&) const = default;

  static constexpr auto Layout() {
    using T = ClassPortInfo;
    using wire::Reserved, wire::Ro, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::base_version, "BaseVersion", 8, 0),
        Ro(&T::class_version, "ClassVersion", 8, 8),
        Ro(&T::capability_mask, "CapabilityMask", 16, 16),
        Ro(&T::capability_mask2, "CapabilityMask2", 27, 32),
        Ro(&T::resp_time_value, "RespTimeValue", 5, 59),
        Ro(&T::redirect_gid, "RedirectGID", 128, 64),
        Ro(&T::redirect_tc, "RedirectTC", 8, 192),
        Ro(&T::redirect_sl, "RedirectSL", 4, 200),
        Ro(&T::redirect_fl, "RedirectFL", 20, 204),
        Ro(&T::redirect_lid, "RedirectLID", 16, 224),
        Ro(&T::redirect_p_key, "RedirectP_Key", 16, 240), Reserved(8, 256),
        Ro(&T::redirect_qp, "RedirectQP", 24, 264),
        Ro(&T::redirect_q_key, "RedirectQ_Key", 32, 288),
        Rw(&T::trap_gid, "TrapGID", 128, 320),
        Rw(&T::trap_tc, "TrapTC", 8, 448), Rw(&T::trap_sl, "TrapSL", 4, 456),
        Rw(&T::trap_fl, "TrapFL", 20, 460),
        Rw(&T::trap_lid, "TrapLID", 16, 480),
        Rw(&T::trap_p_key, "TrapP_Key", 16, 496),
        Rw(&T::trap_hl, "TrapHL", 8, 512), Rw(&T::trap_qp, "TrapQP", 24, 520),
        Rw(&T::trap_q_key, "TrapQ_Key", 32, 544));
  }
};
static_assert(wire::Tiles<ClassPortInfo>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_CLASS_PORT_INFO_H_
