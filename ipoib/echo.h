// AnswerEcho(): the answer to a ping.
#ifndef IBEMU_IPOIB_ECHO_H_
#define IBEMU_IPOIB_ECHO_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "wire/ip_address.h"

namespace ibemu::ipoib {

// Returns the answer to `packet`, both with their encapsulation, if that is a
// sound and whole echo request of either version to one of `own`.
std::optional<std::vector<std::byte>> AnswerEcho(
    std::span<const std::byte> packet, std::span<const wire::IpNetwork> own);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ECHO_H_
