// IpHeader: the IP addresses of a connection, at the front of the private data
// of its request.
#ifndef IBEMU_RDMA_CM_VALUES_IP_HEADER_H_
#define IBEMU_RDMA_CM_VALUES_IP_HEADER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rdma_cm/values/socket_address.h"
#include "wire/layout.h"

namespace ibemu::rdma_cm {

// The RDMA IP CM Service's message: IBA vol 1 annex A11.  A REQ and a SIDR_REQ
// begin with it, unless their addresses are IB addresses.
struct IpHeader {
  static constexpr int kBits = 288;

  uint8_t version = 0;
  uint8_t ip_version = 0;
  uint16_t source_port = 0;
  std::array<uint8_t, 16> source{};
  std::array<uint8_t, 16> destination{};

  bool operator==(const IpHeader&) const = default;

  static constexpr auto Layout() {
    using T = IpHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::version, "MajorMinorVersion", 8, 0),
        Rw(&T::ip_version, "IPVersion", 4, 8), Reserved(4, 12),
        Rw(&T::source_port, "SourcePort", 16, 16),
        Rw(&T::source, "SourceIPAddress", 128, 32),
        Rw(&T::destination, "DestinationIPAddress", 128, 160));
  }

  // Returns the header of a request between two IP addresses of one family.
  static IpHeader Of(const SocketAddress& source,
                     const SocketAddress& destination);
};
static_assert(wire::Tiles<IpHeader>());

inline constexpr size_t kIpHeaderSize = IpHeader::kBits / 8;

// Returns the private data of a request: the header, unless the addresses are
// IB addresses, and what the program adds.
std::vector<std::byte> WithIpHeader(const SocketAddress& source,
                                    const SocketAddress& destination,
                                    std::span<const std::byte> added);

// Returns what the program has added to the private data of a request that came
// to `listener`.
std::vector<std::byte> WithoutIpHeader(const SocketAddress& listener,
                                       std::span<const std::byte> data);

// The addresses of a request, as its recipient finds them out.  Both are of
// family kIb if there is no header.
struct RequestAddresses {
  enum class Kind {
    kInvalid,  // a version that nobody knows
    kIp,
    kIb,  // what is there is no header
  };
  Kind kind = Kind::kInvalid;
  wire::IpAddress source{};
  uint16_t source_port = 0;
  wire::IpAddress destination{};

  static RequestAddresses Read(std::span<const std::byte> private_data);
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_IP_HEADER_H_
