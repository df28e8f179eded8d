// UserJoin: a join of a multicast group as a program has it.
#ifndef IBEMU_RDMA_CM_USER_JOIN_H_
#define IBEMU_RDMA_CM_USER_JOIN_H_

#include <cstdint>
#include <memory>

#include "rdma_cm/multicast_join.h"

namespace ibemu::rdma_cm {

class UserId;

// A UserJoin is what ucma.c knows of a join (ucma_multicast).
struct UserJoin {
  std::weak_ptr<UserId> id{};
  uint64_t uid = 0;  // the program's name of it
  uint32_t number = 0;
  uint32_t events_reported = 0;              // that the program was told
  std::unique_ptr<MulticastJoin> join = {};  // null once the id has ended
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_USER_JOIN_H_
