#include "rdma_cm/values/ip_header.h"

#include <algorithm>

namespace ibemu::rdma_cm {

IpHeader IpHeader::Of(const SocketAddress& source,
                      const SocketAddress& destination) {
  return {.version = 0,
          .ip_version = static_cast<uint8_t>(source.ip.version),
          .source_port = source.port(),
          .source = source.ip.bytes,
          .destination = destination.ip.bytes};
}

std::vector<std::byte> WithIpHeader(const SocketAddress& source,
                                    const SocketAddress& destination,
                                    std::span<const std::byte> added) {
  std::vector<std::byte> data;
  if (source.family != Family::kIb) {
    wire::Append(IpHeader::Of(source, destination), data);
  }
  data.insert(data.end(), added.begin(), added.end());
  return data;
}

std::vector<std::byte> WithoutIpHeader(const SocketAddress& listener,
                                       std::span<const std::byte> data) {
  if (listener.family != Family::kIb) {
    data = data.subspan(std::min(kIpHeaderSize, data.size()));
  }
  return {data.begin(), data.end()};
}

RequestAddresses RequestAddresses::Read(
    std::span<const std::byte> private_data) {
  if (private_data.size() < kIpHeaderSize) return {.kind = Kind::kIb};
  const auto header = wire::Decode<IpHeader>(private_data);
  if (header.version != 0) return {.kind = Kind::kInvalid};
  const auto version = wire::IpAddress::Version{header.ip_version};
  wire::IpAddress source{version, header.source};
  wire::IpAddress destination{version, header.destination};
  switch (version) {
    case wire::IpAddress::Version::kIpv4:
      // The bytes before the last four have no meaning.
      source = wire::IpAddress::Ipv4(source.ipv4());
      destination = wire::IpAddress::Ipv4(destination.ipv4());
      break;
    case wire::IpAddress::Version::kIpv6:
      break;
    default:
      return {.kind = Kind::kIb};
  }
  return {.kind = Kind::kIp,
          .source = source,
          .source_port = header.source_port,
          .destination = destination};
}

}  // namespace ibemu::rdma_cm
