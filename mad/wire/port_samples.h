// PortSamplesControl and its results: IBA vol 1 §16.1.3.2 to §16.1.3.4.
#ifndef IBEMU_MAD_WIRE_PORT_SAMPLES_H_
#define IBEMU_MAD_WIRE_PORT_SAMPLES_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

enum class SampleStatus : uint8_t { kDone = 0, kPending = 1, kRunning = 2 };

// The control of a sampling.  The attribute modifier is the sampling mechanism.
struct PortSamplesControl {
  static constexpr AttributeId kId = AttributeId::kPortSamplesControl;
  static constexpr int kBits = 640;

  uint8_t op_code = 0;
  uint8_t port_select = 0;
  uint8_t tick = 0;
  uint8_t counter_width = 0;
  uint8_t counter_mask0 = 0;
  uint32_t counter_masks1_to_9 = 0;
  uint16_t counter_masks10_to_14 = 0;
  uint8_t sample_mechanisms = 0;
  SampleStatus sample_status{};
  uint64_t option_mask = 0;
  uint64_t vendor_mask = 0;
  uint32_t sample_start = 0;
  uint32_t sample_interval = 0;
  uint16_t tag = 0;
  std::array<uint16_t, 15> counter_select{};
  uint64_t samples_only_option_mask = 0;

  bool operator==(const PortSamplesControl&) const = default;

  static constexpr auto Layout() {
    using T = PortSamplesControl;
    using wire::Reserved, wire::Ro, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::op_code, "OpCode", 8, 0),
        Rw(&T::port_select, "PortSelect", 8, 8), Ro(&T::tick, "Tick", 8, 16),
        Reserved(5, 24), Ro(&T::counter_width, "CounterWidth", 3, 29),
        Reserved(2, 32), Ro(&T::counter_mask0, "CounterMask0", 3, 34),
        Ro(&T::counter_masks1_to_9, "CounterMasks1to9", 27, 37),
        Reserved(1, 64),
        Ro(&T::counter_masks10_to_14, "CounterMasks10to14", 15, 65),
        Ro(&T::sample_mechanisms, "SampleMechanisms", 8, 80), Reserved(6, 88),
        Ro(&T::sample_status, "SampleStatus", 2, 94),
        Ro(&T::option_mask, "OptionMask", 64, 96),
        Ro(&T::vendor_mask, "VendorMask", 64, 160),
        Rw(&T::sample_start, "SampleStart", 32, 224),
        Rw(&T::sample_interval, "SampleInterval", 32, 256),
        Rw(&T::tag, "Tag", 16, 288),
        Rw(&T::counter_select, "CounterSelect", 240, 304), Reserved(32, 544),
        Ro(&T::samples_only_option_mask, "SamplesOnlyOptionMask", 64, 576));
  }
};
static_assert(wire::Tiles<PortSamplesControl>());

// The counters of the last sampling, in the order of CounterSelect.  `tag` is
// the control's.
struct PortSamplesResult {
  static constexpr AttributeId kId = AttributeId::kPortSamplesResult;
  static constexpr int kBits = 512;

  uint16_t tag = 0;
  SampleStatus sample_status{};
  std::array<uint32_t, 15> counters{};

  bool operator==(const PortSamplesResult&) const = default;

  static constexpr auto Layout() {
    using T = PortSamplesResult;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::tag, "Tag", 16, 0), Reserved(14, 16),
        Ro(&T::sample_status, "SampleStatus", 2, 30),
        Ro(&T::counters, "Counter", 480, 32));
  }
};
static_assert(wire::Tiles<PortSamplesResult>());

// The same in counters of 48 or 64 bits.
struct PortSamplesResultExtended {
  static constexpr AttributeId kId = AttributeId::kPortSamplesResultExtended;
  static constexpr int kBits = 1024;

  uint16_t tag = 0;
  SampleStatus sample_status{};
  uint8_t extended_width = 0;  // 1: 48 bits, 2: 64 bits
  std::array<uint64_t, 15> counters{};

  bool operator==(const PortSamplesResultExtended&) const = default;

  static constexpr auto Layout() {
    using T = PortSamplesResultExtended;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::tag, "Tag", 16, 0), Reserved(14, 16),
        Ro(&T::sample_status, "SampleStatus", 2, 30),
        Ro(&T::extended_width, "ExtendedWidth", 2, 32), Reserved(30, 34),
        Ro(&T::counters, "Counter", 960, 64));
  }
};
static_assert(wire::Tiles<PortSamplesResultExtended>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_PORT_SAMPLES_H_
