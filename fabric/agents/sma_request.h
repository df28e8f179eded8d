// SmaRequest: one SMP in the subnet management agent, and the attributes that
// answer it.
#ifndef IBEMU_FABRIC_AGENTS_SMA_REQUEST_H_
#define IBEMU_FABRIC_AGENTS_SMA_REQUEST_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/time/time.h"
#include "fabric/agents/traps.h"
#include "fabric/subnet/events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/smp.h"
#include "wire/layout.h"

namespace ibemu::fabric {

// A Get or a Set that may be carried out: its M_Key is right.
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

// The attributes (IBA vol 1 §14.2.5).  Each function carries out the request if
// it is a Set, and puts the resulting attribute into `data`.  A status other
// than kOk means that nothing has changed.
mad::MadStatus SmaNodeDescription(const SmaRequest& request);
mad::MadStatus SmaNodeInfo(const SmaRequest& request);
mad::MadStatus SmaNotice(const SmaRequest& request);
mad::MadStatus SmaPortInfo(const SmaRequest& request);  // sma_port_info.cc

// sma_tables.cc
mad::MadStatus SmaGuidInfo(const SmaRequest& request);
mad::MadStatus SmaPKeyTable(const SmaRequest& request);
mad::MadStatus SmaSlToVlMappingTable(const SmaRequest& request);
mad::MadStatus SmaVlArbitrationTable(const SmaRequest& request);

// sma_switch.cc
mad::MadStatus SmaSwitchInfo(const SmaRequest& request);
mad::MadStatus SmaLinearForwardingTable(const SmaRequest& request);
mad::MadStatus SmaMulticastForwardingTable(const SmaRequest& request);

// sma_diagnostics.cc
mad::MadStatus SmaVendorDiag(const SmaRequest& request);
mad::MadStatus SmaLedInfo(const SmaRequest& request);
mad::MadStatus SmaLinkSpeedWidthPairsTable(const SmaRequest& request);
mad::MadStatus SmaMellanoxExtendedPortInfo(const SmaRequest& request);
mad::MadStatus SmaMellanoxGeneralInfo(const SmaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_SMA_REQUEST_H_
