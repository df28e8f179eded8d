// Some packets among all: by what they carry.
#ifndef IBEMU_FABRIC_FAULTS_PACKET_FILTER_H_
#define IBEMU_FABRIC_FAULTS_PACKET_FILTER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "fabric/packet/packet.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

struct PacketFilter {
  enum class Kind : uint8_t {
    kEvery,
    kMads,   // of queue pairs 0 and 1
    kVerbs,  // of all others
  };
  Kind kind = Kind::kEvery;
  // Further conditions of kMads.  kSubnetLidRouted: both kinds of SMPs.
  std::optional<mad::MgmtClass> mgmt_class = std::nullopt;
  std::optional<mad::AttributeId> attribute = std::nullopt;

  bool Matches(const Packet& packet) const;
  bool operator==(const PacketFilter&) const = default;
};

// "NodeInfo", "SA" (a class), "MAD", "verbs": the filter of that name, letter
// case aside.
//
// Errors: InvalidArgument, naming the closest one ("did you mean ...").
absl::StatusOr<PacketFilter> ParsePacketFilter(std::string_view name);

// As ParsePacketFilter() understands it; empty: every packet.
std::string_view NameOf(const PacketFilter& filter);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_PACKET_FILTER_H_
