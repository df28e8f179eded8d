#include "fabric/forwarding/link_traffic.h"

#include <memory>

namespace ibemu::fabric {
namespace {

// Returns the port's counters by lane, if this traffic counts there: once there
// are any, all of it does.
LaneCounters* LanesOf(NodePort& port, const LinkTraffic& traffic) {
  if (port.lanes == nullptr) {
    if (traffic.sl == 0 && traffic.vl == 0) return nullptr;
    port.lanes = std::make_unique<LaneCounters>();
  }
  return port.lanes.get();
}

}  // namespace

void CountXmit(NodePort& port, const LinkTraffic& traffic) {
  port.traffic.xmit_data += traffic.words;
  port.traffic.xmit_packets += traffic.packets;
  if (traffic.vl15) {
    port.traffic.xmit_vl15_packets += traffic.packets;
    return;
  }
  if (LaneCounters* const lanes = LanesOf(port, traffic)) {
    lanes->xmit_data_by_sl[traffic.sl & 15] += traffic.words;
    lanes->xmit_data_by_vl[traffic.vl & 15] += traffic.words;
    lanes->xmit_packets_by_vl[traffic.vl & 15] += traffic.packets;
  }
  if (traffic.multicast) {
    port.Events().xmit_multicast_packets += traffic.packets;
  }
}

void CountRcv(NodePort& port, const LinkTraffic& traffic) {
  port.traffic.rcv_data += traffic.words;
  port.traffic.rcv_packets += traffic.packets;
  if (traffic.vl15) {
    port.traffic.rcv_vl15_packets += traffic.packets;
    return;
  }
  if (LaneCounters* const lanes = LanesOf(port, traffic)) {
    lanes->rcv_data_by_sl[traffic.sl & 15] += traffic.words;
    lanes->rcv_data_by_vl[traffic.vl & 15] += traffic.words;
    lanes->rcv_packets_by_vl[traffic.vl & 15] += traffic.packets;
  }
  if (traffic.multicast) {
    port.Events().rcv_multicast_packets += traffic.packets;
  }
}

}  // namespace ibemu::fabric
