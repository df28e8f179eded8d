// The text of a partition, as people write and read it.
#ifndef IBEMU_DAEMON_WORDS_PARTITION_TEXT_H_
#define IBEMU_DAEMON_WORDS_PARTITION_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ibemu::daemon {

// Returns the partition whose P_Key is `text`, in hexadecimal, with or without
// the bit of full members: 1 for "8001", "0x8001" and "1".
//
// Errors: InvalidArgument, it is none, or that of no partition (0, 8000).
absl::StatusOr<uint16_t> ParsePartition(std::string_view text);

// Returns the P_Key of a partition's full members as the names of interfaces
// have it: "8001".
std::string PartitionText(uint16_t partition);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_PARTITION_TEXT_H_
