// OpcodeFilter: a selection of packets by their opcode.
#ifndef IBEMU_FABRIC_FAULTS_OPCODE_FILTER_H_
#define IBEMU_FABRIC_FAULTS_OPCODE_FILTER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "verbs/qp_attributes.h"

namespace ibemu::fabric {

// An OpcodeFilter selects values of BTH.OpCode (IBA vol 1 table 38).
struct OpcodeFilter {
  uint8_t services = 0;     // bit n: those with the service n, bits 7:5
  uint32_t operations = 0;  // bit n: those with the operation n, bits 4:0

  bool Matches(uint8_t opcode) const;
  // Returns true if a queue pair of this type sends or receives such packets.
  bool IsOf(verbs::QpType type) const;

  bool operator==(const OpcodeFilter&) const = default;
};

// Returns the filter of an opcode as the specification names it, in lower case
// ("rc-send-only", "uc-rdma-write-first", "ud-send-only-immediate"), or of
// a group: "any", "send", "rdma-write", "read-response", "atomic", "ack".
//
// Errors: InvalidArgument, naming the closest name ("did you mean ...").
absl::StatusOr<OpcodeFilter> ParseOpcodeFilter(std::string_view name);

// Returns the name that ParseOpcodeFilter() understands.
std::string NameOf(const OpcodeFilter& filter);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_OPCODE_FILTER_H_
