#include "fabric/history/sweep_history.h"

#include "mad/wire/mad_header.h"
#include "mad/wire/port_codes.h"
#include "wire/layout.h"

namespace ibemu::fabric {

using mad::MadHeader, mad::Method;

void SweepHistory::NoteSmp(PortId port, const mad::MadBytes& smp) {
  if (!(subnet_.port(port).info.capability_mask & mad::capability::kIsSm)) {
    return;
  }
  const auto method = wire::Get<&MadHeader::method>(smp);
  if (method != Method::kGet && method != Method::kSet) return;
  if (wire::Get<&MadHeader::attr_id>(smp) == mad::AttributeId::kSmInfo) {
    return;
  }
  Sweep& sweep = Now(port);
  ++(method == Method::kSet ? sweep.sets : sweep.gets);
}

void SweepHistory::NoteWork(PortId port) { Now(port); }

const SweepHistory::Sweep* SweepHistory::Last(PortId port) const {
  const auto found = last_.find(port);
  return found == last_.end() ? nullptr : &found->second;
}

SweepHistory::Sweep& SweepHistory::Now(PortId port) {
  const absl::Time now = timers_.Now();
  const auto [found, is_first] = last_.try_emplace(port);
  Sweep& sweep = found->second;
  if (is_first || !IsUnderWay(sweep)) sweep = {.began = now, .last = now};
  sweep.last = now;
  return sweep;
}

}  // namespace ibemu::fabric
