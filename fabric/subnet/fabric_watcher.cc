#include "fabric/subnet/fabric_watcher.h"

namespace ibemu::fabric {

std::string_view NameOf(DropCause cause) {
  switch (cause) {
    case DropCause::kNodeDown:
      return "node-down";
    case DropCause::kLinkDown:
      return "link-down";
    case DropCause::kCut:
      return "cut";
    case DropCause::kFaultLoss:
      return "loss";
    case DropCause::kFaultCorrupt:
      return "corrupt";
    case DropCause::kNoRoute:
      return "no-route";
    case DropCause::kLooping:
      return "looping";
    case DropCause::kHopLimit:
      return "hop-limit";
    case DropCause::kCopyLimit:
      return "copy-limit";
    case DropCause::kVlMapping:
      return "vl-mapping";
    case DropCause::kPKey:
      return "p-key";
    case DropCause::kMtu:
      return "mtu";
    case DropCause::kNotOurs:
      return "not-ours";
    case DropCause::kDirectedRoute:
      return "directed-route";
    case DropCause::kPortInactive:
      return "port-inactive";
    case DropCause::kDelayFull:
      return "delay-full";
  }
  return "unknown";
}

}  // namespace ibemu::fabric
