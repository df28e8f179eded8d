// ConnectionData: the private data by which the two ends of a connection
// introduce themselves.
#ifndef IBEMU_IPOIB_CONNECTED_CONNECTION_DATA_H_
#define IBEMU_IPOIB_CONNECTED_CONNECTION_DATA_H_

#include <cstddef>
#include <cstdint>

#include "wire/layout.h"

namespace ibemu::ipoib {

// The most bytes of an IP packet in connected mode, as Linux has it.
constexpr size_t kConnectedMtu = 65520;
// In a hardware address: the interface has connected mode over RC.
constexpr uint8_t kConnectedFlag = 0x80;

// The private data of REQ and REP: RFC 4755 §3.3.
struct ConnectionData {
  static constexpr int kBits = 64;

  uint32_t qpn = 0;  // of datagrams
  uint32_t mtu = 0;  // the longest message, encapsulation included

  static constexpr auto Layout() {
    using T = ConnectionData;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(8, 0), Rw(&T::qpn, "QPN", 24, 8),
                       Rw(&T::mtu, "MTU", 32, 32));
  }
};
static_assert(wire::Tiles<ConnectionData>());

// The service ID of an interface: RFC 4755 §3.4.
constexpr uint64_t ConnectionService(uint32_t qpn) {
  return 0x1000'0000'0000'0000 | qpn;
}

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_CONNECTED_CONNECTION_DATA_H_
