// Sma: the subnet management agent of every node, IBA vol 1 chapter 14.2.
#ifndef IBEMU_FABRIC_AGENTS_SMA_H_
#define IBEMU_FABRIC_AGENTS_SMA_H_

#include "base/timers.h"
#include "fabric/agents/traps.h"
#include "fabric/subnet/events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {

// The agent of all nodes.
class Sma {
 public:
  Sma(Subnet& subnet, Links& links, FabricEvents& events, MadSender& sender,
      Timers& timers);

  // Handles an SMP for the node of `port`, the port at which it came in: any
  // port of a switch, port 0 if it is from the switch's own host.
  // `request.mad` is as the sender's SMA gets it, with complete paths; the
  // reply to a directed-route SMP has the D bit set and the same hop pointer.
  // kConsumed: the M_Key is wrong, or the SMP represses a trap.  kUnhandled:
  // SMInfo, responses, traps and others that belong to a subnet manager.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

  // SwitchInfo.PortStateChange was set: raises trap 128.
  void OnLinkStateChange(topology::NodeId node);

  // CapabilityMask or NodeDescription was changed by the node itself: raises
  // trap 144 for this port.
  enum class LocalChange { kCapabilityMask, kNodeDescription };
  void OnLocalChange(PortId port, LocalChange change);

  // Errors on the link of `port` exceeded a threshold of PortInfo: raises trap
  // 129 (LocalPhyErrors), 130 (OverrunErrors) or 131 (flow control watchdog).
  void OnThreshold(PortId port, mad::TrapNumber number);

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
  // Returns true if the M_Key permits the SMP (§14.2.4); else counts a
  // violation.
  bool PassesMKey(NodePort& port, const mad::Arrival& request);
  void RaiseBadMKey(PortId port, const mad::Arrival& request);
  void RaiseBadKey(PortId port, mad::TrapNumber number, const BadKey& packet);

  Subnet& subnet_;
  Links& links_;
  FabricEvents& events_;
  Timers& timers_;
  Traps traps_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_H_
