// LocalEnd: a host's own part of the messages of a connection.
#ifndef IBEMU_CM_LOCAL_END_H_
#define IBEMU_CM_LOCAL_END_H_

#include <cstdint>

#include "wire/types.h"

namespace ibemu::cm {

// A LocalEnd is a host's own part of the messages of a connection.
struct LocalEnd {
  uint32_t comm_id = 0;
  wire::Guid ca_guid{};
  uint8_t ca_ack_delay = 0;  // 4.096 us * 2^n
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_LOCAL_END_H_
