// Event: one rdma_cm_event, by which a program is told of one of its ids.
#ifndef IBEMU_RDMA_CM_VALUES_EVENT_H_
#define IBEMU_RDMA_CM_VALUES_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "cm/cm_id.h"
#include "verbs/qp_attributes.h"

namespace ibemu::rdma_cm {

// enum rdma_cm_event_type.
enum class EventType : uint32_t {
  kAddressResolved = 0,
  kAddressError = 1,
  kRouteResolved = 2,
  kRouteError = 3,
  kConnectRequest = 4,
  kConnectResponse = 5,
  kUnreachable = 7,
  kRejected = 8,
  kEstablished = 9,
  kDisconnected = 10,
  kDeviceRemoval = 11,
  kMulticastJoin = 12,
  kMulticastError = 13,
  kTimewaitExit = 15,
};

// The parameters of a connection (rdma_conn_param): what a program gives to
// Connect() and Accept(), and what it is told of the peer.
struct ConnectionParameters {
  uint32_t qp_num = 0;
  uint32_t qkey = 0;  // UD, and of an IB address only
  std::vector<std::byte> private_data{};
  bool srq = false;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  uint8_t flow_control = 0;
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;
};

// The destination of datagrams (rdma_ud_param): a peer, or a multicast group.
struct DatagramParameters {
  uint32_t qp_num = 0;
  uint32_t qkey = 0;
  verbs::AddressAttributes address{};
  std::vector<std::byte> private_data{};
};

// An Event is one rdma_cm_event of an id.
struct Event {
  EventType type{};
  // 0; a negative errno of Linux; the positive reason of a REJ, or the positive
  // status of a SIDR_REP.
  int status = 0;
  std::variant<std::monostate, ConnectionParameters, DatagramParameters>
      parameters{};
  cm::Ece ece{};
};

// The negative errnos of events, by what they mean.
namespace event_status {
inline constexpr int kInterrupted = -4;
inline constexpr int kFault = -5;
inline constexpr int kTryAgain = -11;
inline constexpr int kNoDevice = -19;
inline constexpr int kInvalid = -22;
inline constexpr int kNetworkReset = -102;
inline constexpr int kTimedOut = -110;
}  // namespace event_status

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_EVENT_H_
