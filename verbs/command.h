// A write() to a uverbs file, taken apart.
#ifndef IBEMU_VERBS_COMMAND_H_
#define IBEMU_VERBS_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "absl/status/statusor.h"

namespace ibemu::verbs {

using Bytes = std::span<const std::byte>;

// Plain structures of <rdma/ib_user_verbs.h> and bytes.  Requires that `bytes`
// has so many.
template <class T>
T ReadAs(Bytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
// All zero.  Braces can't do it: some end in an array without a size.
template <class T>
T Blank() {
  T value;
  std::memset(&value, 0, sizeof value);
  return value;
}
template <class T>
Bytes AsBytes(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

struct Command {
  uint32_t number = 0;    // IB_USER_VERBS_CMD_* or IB_USER_VERBS_EX_CMD_*
  bool extended = false;  // which of the two
  Bytes request;          // behind the headers
  uint64_t response = 0;  // where the answer goes; 0: nowhere
  size_t room = 0;        // how long it may be
};

// Splits headers and request and checks their lengths, as verify_hdr() in
// drivers/infiniband/core/uverbs_main.c does.  Of a plain command that wants an
// answer, the request begins with `response`; there it is the handler's word
// whether it does.
//
// Errors: InvalidArgument.
absl::StatusOr<Command> ParseCommand(Bytes written);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_COMMAND_H_
