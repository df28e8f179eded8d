// SmaNotices: the events of nodes of which their subnet management agents send
// notices, IBA vol 1 §14.2.5.1 and .2.
#ifndef IBEMU_FABRIC_AGENTS_SMA_NOTICES_H_
#define IBEMU_FABRIC_AGENTS_SMA_NOTICES_H_

#include "fabric/agents/traps.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/notice.h"

namespace ibemu::fabric {

// The notices of all nodes: each event becomes a trap of the end port that it
// concerns.
class SmaNotices {
 public:
  // Both arguments must outlive this object.
  SmaNotices(Subnet& subnet, Traps& traps) : subnet_(subnet), traps_(traps) {}

  // SwitchInfo.PortStateChange was set: raises trap 128.
  void OnLinkStateChange(topology::NodeId node);

  // CapabilityMask or NodeDescription was changed by the node itself: raises
  // trap 144 for this port.
  enum class LocalChange { kCapabilityMask, kNodeDescription };
  void OnLocalChange(PortId port, LocalChange change);

  // An SMP with a wrong M_Key came to an end port, which has counted the
  // violation: raises trap 256.
  void OnBadMKey(PortId port, const mad::Arrival& request);

  // Packets with a wrong P_Key or Q_Key came to an end port: counts them and
  // raises trap 257 or 258.
  void OnBadKey(PortId port, const mad::BadKey& bad);
  // `packet`, with a wrong P_Key, came to or left a port of a switch that
  // enforces them: counts it and raises trap 259.
  void OnSwitchBadPKey(PortId port, const mad::BadKeyDetails& packet);

 private:
  Subnet& subnet_;
  Traps& traps_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_NOTICES_H_
