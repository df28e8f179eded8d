// State: the state of a communication ID: IBA vol 1 §12.9.7 and §12.11.
#ifndef IBEMU_CM_STATE_H_
#define IBEMU_CM_STATE_H_

#include <cstdint>

namespace ibemu::cm {

// The states of enum ib_cm_state in which a connection, or a service ID
// resolution, may be.  That somebody listens is no state of a CmId here.
enum class State : uint8_t {
  kIdle,
  kReqSent,
  kMraReqReceived,
  kReqReceived,
  kMraReqSent,  // not before a duplicate asks: PrepareMra()
  kRepSent,
  kMraRepReceived,
  kRepReceived,
  kMraRepSent,  // likewise
  kEstablished,
  kDreqSent,
  kDreqReceived,
  kTimewait,
  kSidrReqSent,
  kSidrReqReceived,
};

// Returns true while a REQ or a REP has come and the connection is not made:
// who ends then tells the peer so by a REJ (kConsumerDefined).
constexpr bool EndsByRej(State state) {
  return state >= State::kReqReceived && state <= State::kMraRepSent;
}

}  // namespace ibemu::cm

#endif  // IBEMU_CM_STATE_H_
