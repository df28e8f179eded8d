// MADs, and matchers for them, for tests of mad/ and of what is
// above.
#ifndef IBEMU_TESTING_MAD_BUILDER_H_
#define IBEMU_TESTING_MAD_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "mad/port.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"
#include "mad/wire/smp.h"

namespace ibemu::testing {

// Returns a 256-byte MAD with this header, and `fill` in all other bytes.
inline mad::MadBytes MakeMad(const mad::MadHeader& header, int fill = 0) {
  mad::MadBytes bytes;
  bytes.fill(std::byte(fill));
  wire::Encode(header, bytes);
  return bytes;
}

inline std::vector<std::byte> ToVector(const mad::MadBytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

inline mad::MadHeader HeaderOf(mad::Bytes bytes) {
  return wire::Decode<mad::MadHeader>(bytes);
}

inline mad::MadHeader HeaderOf(const mad::Arrival& arrival) {
  return HeaderOf(mad::Bytes(arrival.mad));
}

inline mad::RmppHeader RmppOf(mad::Bytes bytes) {
  return wire::Decode<mad::RmppHeader>(bytes.subspan(mad::kRmppHeaderOffset));
}

inline void SetRmpp(mad::MadBytes& bytes, const mad::RmppHeader& rmpp) {
  wire::Encode(rmpp, std::span(bytes).subspan(mad::kRmppHeaderOffset));
}

// Returns Get(`attribute`) by a directed route as an agent hands it to
// Transmit(): the hop pointer already moved.  `path`: the ports to leave
// through.
inline mad::Outgoing DirectedGet(mad::AttributeId attribute,
                                 std::initializer_list<int> path,
                                 uint32_t modifier = 0) {
  mad::Smp smp;
  smp.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute;
  smp.method = mad::Method::kGet;
  smp.attr_id = attribute;
  smp.attr_mod = modifier;
  smp.tid = 0x1234;
  smp.hop_pointer = 1;
  smp.hop_count = static_cast<uint8_t>(path.size());
  smp.dr_slid = smp.dr_dlid = wire::Lid::kPermissive;
  size_t hop = 1;
  for (const int port : path) {
    smp.initial_path[hop++] = static_cast<uint8_t>(port);
  }
  mad::Outgoing packet;
  packet.to.dlid = wire::Lid::kPermissive;
  wire::Encode(smp, packet.mad);
  return packet;
}

// Returns Get(`attribute`) by LID: an SMP (queue pair 0) or a GMP (1).
inline mad::Outgoing LidGet(int qp, mad::MgmtClass mgmt_class, wire::Lid dlid,
                            mad::AttributeId attribute) {
  mad::MadHeader header;
  header.mgmt_class = mgmt_class;
  header.method = mad::Method::kGet;
  header.attr_id = attribute;
  header.tid = 0x5678;
  mad::Outgoing packet;
  packet.qp = qp;
  packet.to.dlid = dlid;
  packet.to.qpn = static_cast<uint32_t>(qp);
  packet.to.qkey = qp == 1 ? mad::kQp1QKey : 0;
  wire::Encode(header, packet.mad);
  return packet;
}

MATCHER_P(HasTid, tid, "") { return HeaderOf(arg.mad).tid == tid; }
MATCHER_P(HasMethod, method, "") { return HeaderOf(arg.mad).method == method; }
MATCHER_P(HasStatusCode, code, "") { return arg.status().code() == code; }

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_MAD_BUILDER_H_
