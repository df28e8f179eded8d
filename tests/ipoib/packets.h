// Packets of two neighbours, byte for byte: 198.18.0.1 and fd1b:e000::1 with
// queue pair 0x11, 198.18.0.2 and fd1b:e000::2 with queue pair 0x22.
#ifndef IBEMU_TESTS_IPOIB_PACKETS_H_
#define IBEMU_TESTS_IPOIB_PACKETS_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ipoib/neighbor_message.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

inline std::vector<std::byte> FromHex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes.push_back(std::byte{byte});
  }
  return bytes;
}

constexpr std::string_view kArpRequest =
    "08060000002008001404000100000011fe800000000000000000000000001001"
    "c61200010000000000000000000000000000000000000000c6120002";
constexpr std::string_view kArpReply =
    "08060000002008001404000200000022fe800000000000000000000000002001"
    "c612000200000011fe800000000000000000000000001001c6120001";
constexpr std::string_view kSolicitation =
    "86dd00006000000000303afffd1be000000000000000000000000001ff020000"
    "0000000000000001ff0000028700b0bb00000000fd1be0000000000000000000"
    "000000020103000000000011fe800000000000000000000000001001";
constexpr std::string_view kAdvertisement =
    "86dd00006000000000303afffd1be000000000000000000000000002fd1be000"
    "00000000000000000000000188005f9260000000fd1be0000000000000000000"
    "000000020203000000000022fe800000000000000000000000002001";
constexpr std::string_view kEchoRequest =
    "0800000045000021007700004001ee3dc6120001c61200020800e5f912340001"
    "70696e6721";
constexpr std::string_view kEchoReply =
    "0800000045000021000040004001aeb4c6120002c61200010000edf912340001"
    "70696e6721";
constexpr std::string_view kEchoRequest6 =
    "86dd000060000000000d3a40fd1be000000000000000000000000001fd1be000"
    "0000000000000000000000028000b3751234000170696e6721";
constexpr std::string_view kEchoReply6 =
    "86dd000060000000000d3a40fd1be000000000000000000000000002fd1be000"
    "0000000000000000000000018100b2751234000170696e6721";

constexpr wire::IpAddress kIpOne = wire::IpAddress::Ipv4(0xc6120001);
constexpr wire::IpAddress kIpTwo = wire::IpAddress::Ipv4(0xc6120002);
constexpr wire::IpAddress kIp6One = wire::IpAddress::Ipv6(
    {0xfd, 0x1b, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
constexpr wire::IpAddress kIp6Two = wire::IpAddress::Ipv6(
    {0xfd, 0x1b, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2});
constexpr HardwareAddress kHardwareOne{
    .qpn = 0x11, .gid = {wire::kDefaultGidPrefix, 0x1001}};
constexpr HardwareAddress kHardwareTwo{
    .qpn = 0x22, .gid = {wire::kDefaultGidPrefix, 0x2001}};

}  // namespace ibemu::ipoib

#endif  // IBEMU_TESTS_IPOIB_PACKETS_H_
