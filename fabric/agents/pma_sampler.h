// PmaSampler: the sampling mechanism of a performance management agent, IBA vol
// 1 §16.1.3.2 to §16.1.3.4.
#ifndef IBEMU_FABRIC_AGENTS_PMA_SAMPLER_H_
#define IBEMU_FABRIC_AGENTS_PMA_SAMPLER_H_

#include <array>
#include <cstdint>
#include <memory>

#include "base/timers.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/port_samples.h"

namespace ibemu::fabric {

// A sampler of one port.  It counts five of the mandatory quantities (data,
// packets and waiting, as QLogic adapters do) during a sampling period that
// begins after a delay.
class PmaSampler : public std::enable_shared_from_this<PmaSampler> {
 public:
  static constexpr int kCounters = 5;

  PmaSampler(Subnet& subnet, Timers& timers)
      : subnet_(subnet), timers_(timers) {}

  // Returns PortSamplesControl as Get shows it for `port_select`.
  mad::PortSamplesControl Control(uint8_t port_select) const;

  // Starts to sample `port`, whose number is wanted.port_select.  It is ignored
  // while a sample is in progress.
  void Start(PortId port, const mad::PortSamplesControl& wanted);

  mad::PortSamplesResult Result() const;
  mad::PortSamplesResultExtended ResultExtended() const;

 private:
  using Values = std::array<uint64_t, kCounters>;
  Values Now() const;
  void Later(uint32_t ticks, void (PmaSampler::*step)());
  void Begin();
  void End();

  Subnet& subnet_;
  Timers& timers_;
  PortId port_ = kNoPort;
  mad::PortSamplesControl control_;
  Values start_{}, result_{};
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_PMA_SAMPLER_H_
