// The subnet management agent of every node: IBA vol 1 chapter 14.2.
#ifndef IBEMU_FABRIC_SMA_H_
#define IBEMU_FABRIC_SMA_H_

#include "base/timers.h"
#include "fabric/events.h"
#include "fabric/links.h"
#include "fabric/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

class Sma {
 public:
  Sma(Subnet& subnet, Links& links, FabricEvents& events, MadSender& sender,
      Timers& timers);

  // An SMP for the node of `port`, which is where it came in: any port of a
  // switch, 0 for its own host's.  `request.mad` is as the sender's SMA gets
  // it, paths complete; the reply of a directed route has D set and the same
  // hop pointer.  kUnhandled: responses, traps and SMInfo, which belong to a
  // subnet manager.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

  // SwitchInfo.PortStateChange was set: trap 128.
  void OnLinkStateChange(NodeId node);

  // CapabilityMask or NodeDescription changed from inside: trap 144 of this
  // port.
  enum class LocalChange { kCapabilityMask, kNodeDescription };
  void OnLocalChange(PortId port, LocalChange change);

  // A packet came to, or passed, a port with a wrong P_Key or Q_Key: traps 257,
  // 258 (an end port counts before) and 259 (a switch that enforces P_Keys).
  struct BadKey {
    uint32_t key = 0;
    uint8_t sl = 0;
    uint32_t source_qpn = 0, destination_qpn = 0;
    mad::Lid slid{}, dlid{};
    mad::Gid sgid, dgid;  // zero without GRH
  };
  void OnBadPKey(PortId port, const BadKey& packet);
  void OnBadQKey(PortId port, const BadKey& packet);
  void OnSwitchBadPKey(PortId port, const BadKey& packet);

 private:
  Subnet& subnet_;
  Links& links_;
  FabricEvents& events_;
  MadSender& sender_;
  Timers& timers_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SMA_H_
