// PathQuestion: the question to subnet administration for the path to a
// neighbour.
#ifndef IBEMU_IPOIB_PATH_QUESTION_H_
#define IBEMU_IPOIB_PATH_QUESTION_H_

#include <cstdint>

#include "absl/time/time.h"
#include "mad/sa/sa_client.h"
#include "mad/wire/sa_component_mask.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// 0x340c, as in Linux, which waits 1000 ms in 11 tries.
constexpr uint64_t kPathMask =
    mad::kComponentBit<&mad::PathRecord::dgid> |
    mad::kComponentBit<&mad::PathRecord::sgid> |
    mad::kComponentBit<&mad::PathRecord::traffic_class> |
    mad::kComponentBit<&mad::PathRecord::num_path> |
    mad::kComponentBit<&mad::PathRecord::p_key>;
static_assert(kPathMask == 0x340c);
constexpr mad::SaRetryPolicy kPathRetry{.timeout = absl::Milliseconds(100),
                                        .retries = 10};

inline mad::PathRecord PathQuestion(const wire::Gid& from, uint16_t pkey,
                                    const wire::Gid& to) {
  return {.dgid = to, .sgid = from, .num_path = 1, .p_key = pkey};
}

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_PATH_QUESTION_H_
