#include "fabric/faults/packet_filter.h"

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "fabric/packet/packet_bytes.h"
#include "fabric/packet/transport.h"
#include "mad/attribute_names.h"

namespace ibemu::fabric {
namespace {

constexpr std::string_view kMads = "MAD";
constexpr std::string_view kVerbs = "verbs";

}  // namespace

bool PacketFilter::Matches(const Packet& packet) const {
  switch (kind) {
    case PacketFilter::Kind::kEvery:
      return true;
    case PacketFilter::Kind::kVerbs:
      return packet.transport != nullptr && MatchesVerbs(packet);
    case PacketFilter::Kind::kMads:
      break;
  }
  if (packet.transport != nullptr) return false;
  if (mgmt_class &&
      *mgmt_class !=
          mad::NamedClass(wire::Get<&mad::MadHeader::mgmt_class>(packet.mad))) {
    return false;
  }
  return !attribute ||
         *attribute == wire::Get<&mad::MadHeader::attr_id>(packet.mad);
}

bool PacketFilter::MatchesVerbs(const Packet& packet) const {
  const Transport& transport = *packet.transport;
  return (!source_qpn || *source_qpn == packet.source_qpn) &&
         (!destination_qpn || *destination_qpn == packet.destination_qpn) &&
         (!opcode || opcode->Matches(OpcodeOf(transport))) &&
         (!psn || *psn == transport.psn);
}

absl::StatusOr<PacketFilter> ParsePacketFilter(std::string_view name) {
  DidYouMean guess(name);
  const auto named = [&](std::string_view candidate) {
    guess.Offer(candidate);
    return absl::EqualsIgnoreCase(Absl(candidate), Absl(name));
  };
  if (named(kMads)) return PacketFilter{.kind = PacketFilter::Kind::kMads};
  if (named(kVerbs)) return PacketFilter{.kind = PacketFilter::Kind::kVerbs};
  for (const mad::AttributeName& one : mad::AttributeNames()) {
    if (!named(one.name)) continue;
    return PacketFilter{.kind = PacketFilter::Kind::kMads,
                        .mgmt_class = one.mgmt_class,
                        .attribute = one.id};
  }
  for (const mad::ClassName& one : mad::ClassNames()) {
    if (!named(one.name)) continue;
    return PacketFilter{.kind = PacketFilter::Kind::kMads,
                        .mgmt_class = one.mgmt_class};
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is no attribute, no class such as SA, and "
                      "neither MAD nor verbs%s",
                      name, guess.Question()));
}

std::string_view NameOf(const PacketFilter& filter) {
  switch (filter.kind) {
    case PacketFilter::Kind::kEvery:
      return "";
    case PacketFilter::Kind::kVerbs:
      return kVerbs;
    case PacketFilter::Kind::kMads:
      break;
  }
  const auto any = mad::MgmtClass{};  // stands for every class
  if (filter.attribute) {
    return mad::NameOf(filter.mgmt_class.value_or(any), *filter.attribute);
  }
  return filter.mgmt_class ? mad::NameOf(*filter.mgmt_class) : kMads;
}

}  // namespace ibemu::fabric
