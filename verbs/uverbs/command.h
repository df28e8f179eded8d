// Commands as clients write() them to a uverbs file.
#ifndef IBEMU_VERBS_UVERBS_COMMAND_H_
#define IBEMU_VERBS_UVERBS_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "absl/status/statusor.h"

namespace ibemu::verbs {

using Bytes = std::span<const std::byte>;

// Returns the first sizeof(T) of `bytes` as a T, a plain structure of
// <rdma/ib_user_verbs.h>.  Requires that `bytes` has so many.
template <class T>
T ReadAs(Bytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
// Returns a T whose bytes are all zero.  Braces can't do it: some of these
// structures end in an array without a size.
template <class T>
T Blank() {
  T value;
  std::memset(&value, 0, sizeof value);
  return value;
}
// Returns the bytes of `value`, which must outlive the result.
template <class T>
Bytes AsBytes(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// A Command is one parsed write().  Its `request` refers to the bytes that were
// parsed.
struct Command {
  uint32_t number = 0;    // IB_USER_VERBS_CMD_* or IB_USER_VERBS_EX_CMD_*
  bool extended = false;  // true: it is the latter
  Bytes request;          // behind the headers
  uint64_t response = 0;  // address of the response; 0: none
  size_t room = 0;        // for the response, in bytes
};

// Splits headers and request and checks their lengths, as verify_hdr() in
// drivers/infiniband/core/uverbs_main.c does.  In a plain command with a
// response, the request begins with the response's address; only the handler
// knows whether the command has one, so `response` is filled in either way.
//
// Errors: InvalidArgument.
absl::StatusOr<Command> ParseCommand(Bytes written);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_COMMAND_H_
