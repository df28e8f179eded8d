// SmaNotices: the events of nodes of which their subnet management agents send
// notices, IBA vol 1 §14.2.5.1 and .2.
#ifndef IBEMU_FABRIC_AGENTS_SMA_NOTICES_H_
#define IBEMU_FABRIC_AGENTS_SMA_NOTICES_H_

#include <cstdint>

#include "fabric/agents/traps.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/wire/notice.h"
#include "wire/types.h"

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

  // A packet with a wrong P_Key or Q_Key came to a port or passed it: raises
  // trap 257 or 258 (an end port, which has counted the violation before) or
  // 259 (a switch that enforces P_Keys).
  struct BadKey {
    uint32_t key = 0;
    uint8_t sl = 0;
    uint32_t source_qpn = 0, destination_qpn = 0;
    wire::Lid slid{}, dlid{};
    wire::Gid sgid{}, dgid{};  // zero without GRH
  };
  void OnBadPKey(PortId port, const BadKey& packet);
  void OnBadQKey(PortId port, const BadKey& packet);
  void OnSwitchBadPKey(PortId port, const BadKey& packet);

 private:
  void RaiseBadKey(PortId port, mad::TrapNumber number, const BadKey& packet);

  Subnet& subnet_;
  Traps& traps_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_NOTICES_H_
