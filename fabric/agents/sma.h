// The subnet management agent of every node: IBA vol 1 chapter 14.2.
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

class Sma {
 public:
  Sma(Subnet& subnet, Links& links, FabricEvents& events, MadSender& sender,
      Timers& timers);

  // An SMP for the node of `port`, which is where it came in: any port of a
  // switch, 0 for its own host's.  `request.mad` is as the sender's SMA gets
  // it, paths complete; the reply of a directed route has D set and the same
  // hop pointer.  kConsumed: the M_Key is wrong, or it represses a trap.
  // kUnhandled: SMInfo, responses, traps and what else belongs to a subnet
  // manager.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

  // SwitchInfo.PortStateChange was set: trap 128.
  void OnLinkStateChange(topology::NodeId node);

  // CapabilityMask or NodeDescription changed from inside: trap 144 of this
  // port.
  enum class LocalChange { kCapabilityMask, kNodeDescription };
  void OnLocalChange(PortId port, LocalChange change);

  // Errors on the link of `port` passed a threshold of PortInfo: traps 129
  // (LocalPhyErrors), 130 (OverrunErrors) and 131 (flow control watchdog).
  void OnThreshold(PortId port, mad::TrapNumber number);

  // A packet came to, or passed, a port with a wrong P_Key or Q_Key: traps 257,
  // 258 (an end port counts before) and 259 (a switch that enforces P_Keys).
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
  // §14.2.4: true if the SMP may be carried out; else it is counted.
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
