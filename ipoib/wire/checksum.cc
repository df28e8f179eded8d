#include "ipoib/wire/checksum.h"

namespace ibemu::ipoib {
namespace {

// The sum of 16-bit words; an odd byte at the end counts as the high one.
uint64_t SumOf(std::span<const std::byte> bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto value = std::to_integer<uint64_t>(bytes[i]);
    sum += i % 2 == 0 ? value << 8 : value;
  }
  return sum;
}

uint16_t Fold(uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

}  // namespace

uint16_t Checksum(std::span<const std::byte> bytes) {
  return Fold(SumOf(bytes));
}

uint16_t Icmpv6Checksum(const Ipv6Bytes& source, const Ipv6Bytes& destination,
                        std::span<const std::byte> message) {
  return Fold(SumOf(std::as_bytes(std::span(source))) +
              SumOf(std::as_bytes(std::span(destination))) + message.size() +
              static_cast<uint64_t>(IpProtocol::kIcmpv6) + SumOf(message));
}

}  // namespace ibemu::ipoib
