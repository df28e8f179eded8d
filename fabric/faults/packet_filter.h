// PacketFilter: a selection of packets by what they carry.
#ifndef IBEMU_FABRIC_FAULTS_PACKET_FILTER_H_
#define IBEMU_FABRIC_FAULTS_PACKET_FILTER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "fabric/faults/opcode_filter.h"
#include "fabric/packet/packet.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

// The conditions that a packet has to meet.
struct PacketFilter {
  enum class Kind : uint8_t {
    kEvery,
    kMads,   // packets of queue pairs 0 and 1
    kVerbs,  // packets of all other queue pairs
  };
  Kind kind = Kind::kEvery;
  // Further conditions on kMads.  kSubnetLidRouted stands for both classes of
  // SMPs.
  std::optional<mad::MgmtClass> mgmt_class = std::nullopt;
  std::optional<mad::AttributeId> attribute = std::nullopt;
  // Further conditions on kVerbs, for single packets.
  std::optional<uint32_t> source_qpn = std::nullopt;
  std::optional<uint32_t> destination_qpn = std::nullopt;
  std::optional<OpcodeFilter> opcode = std::nullopt;
  std::optional<uint32_t> psn = std::nullopt;

  bool Matches(const Packet& packet) const;
  bool operator==(const PacketFilter&) const = default;

 private:
  bool MatchesVerbs(const Packet& packet) const;
};

// Returns the filter of the given name: an attribute ("NodeInfo"), a class
// ("SA"), "MAD" or "verbs".  Letter case does not matter.
//
// Errors: InvalidArgument, naming the closest name ("did you mean ...").
absl::StatusOr<PacketFilter> ParsePacketFilter(std::string_view name);

// Returns the name that ParsePacketFilter() understands, or an empty string for
// the filter of all packets.
std::string_view NameOf(const PacketFilter& filter);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_PACKET_FILTER_H_
