// Private data: the room that each message has for its users' bytes.
#ifndef IBEMU_CM_PRIVATE_DATA_H_
#define IBEMU_CM_PRIVATE_DATA_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace ibemu::cm {

// Copies `data` to the front of `room`.
// Errors: InvalidArgument, there is more of it than room.
template <size_t kRoom>
absl::Status FillPrivateData(std::span<const std::byte> data,
                             std::array<std::byte, kRoom>& room) {
  if (data.size() > kRoom) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d bytes of private data: the message has room for %d",
                        data.size(), kRoom));
  }
  std::ranges::copy(data, room.begin());
  return absl::OkStatus();
}

}  // namespace ibemu::cm

#endif  // IBEMU_CM_PRIVATE_DATA_H_
