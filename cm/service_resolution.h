// ServiceResolution: the state machine of one end of a service ID resolution.
#ifndef IBEMU_CM_SERVICE_RESOLUTION_H_
#define IBEMU_CM_SERVICE_RESOLUTION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cm/cm_id.h"
#include "cm/outstanding.h"
#include "cm/peer.h"
#include "cm/route.h"
#include "cm/sending.h"
#include "cm/state.h"
#include "cm/wire/sidr_messages.h"
#include "mad/wire/mad_header.h"

namespace ibemu::cm {

// A ServiceResolution asks for the queue pair behind a service ID, or is asked
// for it: IBA vol 1 §12.11.  A value, as Connection is one.
class ServiceResolution {
 public:
  // `comm_id`: the RequestID of what it asks.
  explicit ServiceResolution(uint32_t comm_id) : comm_id_(comm_id) {}

  State state() const { return state_; }
  const Route& route() const { return route_; }
  // Returns who waits for the answer.
  std::optional<Asker> asker() const;

  // When OnTimer() is to be called, if at all.
  std::optional<absl::Time> deadline() const;

  // The calls of its owner.  Errors: InvalidArgument, in another state, or
  // private data too long.
  absl::StatusOr<Sending> SendReq(absl::Time now, const SidrRequest& request,
                                  const Route& route);
  absl::StatusOr<Sending> SendRep(const SidrReply& reply);
  // Ends it in whatever state it is.  Returns what tells the peer.
  std::optional<Sending> Destroy();
  // Ends it without a word.
  void Ignore() { GoIdle(); }

  // Takes the SIDR_REQ that made it.  Requires kIdle.  `route`: where that came
  // from.
  void OnReq(const mad::MadHeader& header, const SidrReq& req,
             const Route& route);
  // `from`: who sent it.
  Step OnRep(const mad::MadHeader& header, const SidrRep& rep,
             const mad::AddressVector& from);
  Step OnTimer(absl::Time now);

 private:
  void GoIdle();

  uint32_t comm_id_;
  State state_ = State::kIdle;
  uint64_t tid_ = 0;
  uint32_t request_id_ = 0;
  uint64_t service_id_ = 0;
  Route route_{};
  std::optional<Outstanding> outstanding_;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_SERVICE_RESOLUTION_H_
