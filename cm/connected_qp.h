// ConnectedQp: the attributes of a queue pair that the two sides of a
// connection have agreed on.
#ifndef IBEMU_CM_CONNECTED_QP_H_
#define IBEMU_CM_CONNECTED_QP_H_

#include <cstdint>
#include <optional>

#include "cm/route.h"
#include "verbs/qp_attributes.h"
#include "wire/types.h"

namespace ibemu::cm {

// A ConnectedQp is one end of a connection.  Its functions return the
// attributes for modifying the queue pair to the states in turn:
// cm_init_qp_init_attr() and those beside it.
struct ConnectedQp {
  verbs::QpType type = verbs::QpType::kRc;
  Route route{};
  wire::Lid dlid{};  // of data; that of the route is for MADs
  uint32_t qpn = 0;
  uint32_t remote_qpn = 0;
  uint32_t receive_psn = 0;
  uint32_t send_psn = 0;
  uint8_t responder_resources = 0;  // reads and atomics that it answers at once
  uint8_t initiator_depth = 0;      // and those that it asks for
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;
  uint8_t timeout = 0;  // of an ACK, 4.096 us * 2^n

  verbs::QpAttributes ForInit() const;
  verbs::QpAttributes ForReadyToReceive() const;
  // `ack_timeout` is taken instead of `timeout`.
  verbs::QpAttributes ForReadyToSend(std::optional<uint8_t> ack_timeout) const;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_CONNECTED_QP_H_
