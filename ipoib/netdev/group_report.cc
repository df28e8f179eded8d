#include "ipoib/netdev/group_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ipoib/wire/group_management.h"
#include "ipoib/wire/ip_headers.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;
using Reports = std::optional<std::vector<GroupReport>>;

constexpr uint8_t kIgmp = 2;

wire::IpAddress AddressIn(Bytes bytes, bool is_ipv4) {
  std::array<uint8_t, 16> address{};
  const auto place = is_ipv4 ? std::span(address).last(4) : std::span(address);
  std::ranges::transform(bytes.first(place.size()), place.begin(),
                         [](std::byte byte) { return uint8_t(byte); });
  return {is_ipv4 ? wire::IpAddress::Version::kIpv4
                  : wire::IpAddress::Version::kIpv6,
          address};
}

// Whether somebody listens after this record, if it says that.
std::optional<bool> Listens(const GroupRecordHeader& record) {
  switch (record.type) {
    case GroupRecordType::kModeIsInclude:
    case GroupRecordType::kChangeToInclude:
      return record.sources != 0;
    case GroupRecordType::kModeIsExclude:
    case GroupRecordType::kChangeToExclude:
    case GroupRecordType::kAllowNewSources:
      return true;
    case GroupRecordType::kBlockOldSources:
      break;
  }
  return std::nullopt;
}

Reports ReadRecords(Bytes bytes, bool is_ipv4) {
  if (bytes.size() < wire::kBytes<GroupReportHeader>) return std::nullopt;
  const size_t address = is_ipv4 ? 4 : 16;
  const auto report = wire::Decode<GroupReportHeader>(bytes);
  bytes = bytes.subspan(wire::kBytes<GroupReportHeader>);
  std::vector<GroupReport> reports;
  for (int i = 0; i < report.records; ++i) {
    if (bytes.size() < wire::kBytes<GroupRecordHeader> + address) break;
    const auto record = wire::Decode<GroupRecordHeader>(bytes);
    bytes = bytes.subspan(wire::kBytes<GroupRecordHeader>);
    if (const auto listens = Listens(record)) {
      reports.push_back({AddressIn(bytes, is_ipv4), *listens});
    }
    const size_t rest = address * (size_t{1} + record.sources) +
                        size_t{record.auxiliary_words} * 4;
    bytes = bytes.subspan(std::min(rest, bytes.size()));
  }
  return reports;
}

template <class Message>
Reports ReadMessage(Bytes bytes, bool is_ipv4, bool listens) {
  if (bytes.size() < wire::kBytes<Message>) return std::nullopt;
  const size_t address = is_ipv4 ? 4 : 16;
  const Bytes group = bytes.subspan(wire::kBytes<Message> - address);
  return std::vector{GroupReport{AddressIn(group, is_ipv4), listens}};
}

Reports ReadIgmp(Bytes bytes) {
  switch (IgmpType{wire::Get<&IcmpHeader::type>(bytes)}) {
    case IgmpType::kReportV1:
    case IgmpType::kReportV2:
      return ReadMessage<IgmpMessage>(bytes, true, true);
    case IgmpType::kLeaveV2:
      return ReadMessage<IgmpMessage>(bytes, true, false);
    case IgmpType::kReportV3:
      return ReadRecords(bytes, true);
  }
  return std::nullopt;
}

Reports ReadMld(Bytes bytes) {
  switch (MldType{wire::Get<&IcmpHeader::type>(bytes)}) {
    case MldType::kReportV1:
      return ReadMessage<MldMessage>(bytes, false, true);
    case MldType::kDoneV1:
      return ReadMessage<MldMessage>(bytes, false, false);
    case MldType::kReportV2:
      return ReadRecords(bytes, false);
  }
  return std::nullopt;
}

}  // namespace

Reports ReadGroupReports(const IpPacket& packet) {
  if (packet.is_later_fragment ||
      packet.payload.size() < wire::kBytes<IcmpHeader>) {
    return std::nullopt;
  }
  if (packet.source.is_ipv4()) {
    return packet.protocol == kIgmp ? ReadIgmp(packet.payload) : std::nullopt;
  }
  return IpProtocol{packet.protocol} == IpProtocol::kIcmpv6
             ? ReadMld(packet.payload)
             : std::nullopt;
}

}  // namespace ibemu::ipoib
