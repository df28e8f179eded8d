// SmaRequest: one Get or Set in the subnet management agent.
#ifndef IBEMU_FABRIC_AGENTS_SMA_REQUEST_H_
#define IBEMU_FABRIC_AGENTS_SMA_REQUEST_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/time/time.h"
#include "fabric/agents/traps.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/smp.h"
#include "wire/layout.h"

namespace ibemu::fabric {

// A Get or a Set that may be carried out: its M_Key is right.
//
// The functions SmaXxx(request) each stand for one attribute (IBA vol 1
// §14.2.5).  They carry out the request if it is a Set, and put the resulting
// attribute into `data`.  A status other than kOk means that nothing has
// changed.
struct SmaRequest {
  Subnet& subnet;
  Links& links;
  FabricEvents& events;
  Traps& traps;
  absl::Time now;

  Node& node;
  NodePort& ingress;  // where the SMP came in
  NodePort& port;     // on a switch port 0, otherwise `ingress`
  bool set = false;
  uint32_t modifier = 0;
  uint64_t m_key = 0;
  // SMPData of the request, which is replaced by that of the answer.
  std::span<std::byte, mad::kSmpDataBytes> data;

  // Returns the attribute of a Set.
  template <wire::Structure T>
  T Wanted() const {
    return wire::Decode<T>(data);
  }

  template <wire::Structure T>
  mad::MadStatus Answer(const T& attribute,
                        mad::MadStatus status = mad::MadStatus::kOk) const {
    static_assert(wire::kBytes<T> <= mad::kSmpDataBytes);
    std::fill(data.begin(), data.end(), std::byte{0});
    wire::Encode(attribute, data);
    return status;
  }

  PortId id() const { return subnet.id_of(port); }
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_REQUEST_H_
