// QKey: the Q_Key of an id.
#ifndef IBEMU_RDMA_CM_Q_KEY_H_
#define IBEMU_RDMA_CM_Q_KEY_H_

#include <cstdint>

#include "rdma_cm/host/local_port.h"
#include "rdma_cm/values/port_space.h"
#include "rdma_cm/values/refusal.h"

namespace ibemu::rdma_cm {

// A QKey is chosen once, by the program, its peer or the port space, and never
// changes (cma_set_qkey(), cma_set_default_qkey()).
class QKey {
 public:
  // 0 until it is chosen.
  uint32_t value() const { return value_; }

  // Errors: kInvalid, it is 0 or not the one that was chosen before.
  Refusal Set(uint32_t value);

  // Chooses that of the port space, unless one was chosen.
  // Errors: kNoSuchAddress, the port is in no broadcast group.
  Refusal SetDefault(PortSpace space, const LocalPort& port);

 private:
  uint32_t value_ = 0;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_Q_KEY_H_
