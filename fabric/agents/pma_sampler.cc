#include "fabric/agents/pma_sampler.h"

#include <algorithm>
#include <limits>

#include "fabric/agents/pma_counters.h"

namespace ibemu::fabric {
namespace {

using mad::SampleStatus;

// The code n stands for (n + 1) ten-bit symbols at 2.5 Gb/s, which take 4 ns
// each.
constexpr uint8_t kSampleTick = 249;
constexpr absl::Duration kTickTime = absl::Nanoseconds(4 * (kSampleTick + 1));

constexpr uint8_t k32Bits = 4;  // CounterWidth
// The values of CounterMask n, three bits each: 1 means that a counter takes
// any mandatory quantity and no other.
constexpr uint8_t kMask0 = 1;
constexpr uint32_t kMasks1To4 = 0b001'001'001'001u << 15;

uint64_t Quantity(const NodePort& port, uint16_t select) {
  // The mandatory quantities in the table of §16.1.3.2.
  switch (select) {
    case 1:
      return port.traffic.xmit_data;
    case 2:
      return port.traffic.rcv_data;
    case 3:
      return port.traffic.xmit_packets;
    case 4:
      return port.traffic.rcv_packets;
    case 5:
      return port.events ? port.events->xmit_wait : 0;
    default:
      return 0;
  }
}

}  // namespace

mad::PortSamplesControl PmaSampler::Control(uint8_t port_select) const {
  mad::PortSamplesControl control = control_;
  control.port_select = port_select;
  control.tick = kSampleTick;
  control.counter_width = k32Bits;
  control.counter_mask0 = kMask0;
  control.counter_masks1_to_9 = kMasks1To4;
  return control;
}

void PmaSampler::Start(PortId port, const mad::PortSamplesControl& wanted) {
  if (control_.sample_status != SampleStatus::kDone) return;
  port_ = port;
  wire::CopyWritable(wanted, control_);
  std::fill(control_.counter_select.begin() + kCounters,
            control_.counter_select.end(), uint16_t{0});
  control_.sample_status = SampleStatus::kPending;
  Later(control_.sample_start, &PmaSampler::Begin);
}

void PmaSampler::Later(uint32_t ticks, void (PmaSampler::*step)()) {
  timers_.RunAfter(ticks * kTickTime, [weak = weak_from_this(), step] {
    if (const auto self = weak.lock()) (self.get()->*step)();
  });
}

void PmaSampler::Begin() {
  control_.sample_status = SampleStatus::kRunning;
  start_ = Now();
  Later(control_.sample_interval, &PmaSampler::End);
}

void PmaSampler::End() {
  control_.sample_status = SampleStatus::kDone;
  result_ = Now();
  for (int i = 0; i < kCounters; ++i) result_[i] -= start_[i];
}

PmaSampler::Values PmaSampler::Now() const {
  Values values;
  for (int i = 0; i < kCounters; ++i) {
    values[i] = Quantity(subnet_.port(port_), control_.counter_select[i]);
  }
  return values;
}

mad::PortSamplesResult PmaSampler::Result() const {
  mad::PortSamplesResult result;
  result.tag = control_.tag;
  result.sample_status = control_.sample_status;
  for (int i = 0; i < kCounters; ++i) {
    result.counters[i] = static_cast<uint32_t>(
        std::min<uint64_t>(result_[i], std::numeric_limits<uint32_t>::max()));
  }
  return result;
}

mad::PortSamplesResultExtended PmaSampler::ResultExtended() const {
  mad::PortSamplesResultExtended result;
  result.tag = control_.tag;
  result.sample_status = control_.sample_status;
  result.extended_width = 2;
  std::copy(result_.begin(), result_.end(), result.counters.begin());
  return result;
}

}  // namespace ibemu::fabric
