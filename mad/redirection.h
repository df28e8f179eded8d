// Following a request to where it is answered.
#ifndef IBEMU_MAD_REDIRECTION_H_
#define IBEMU_MAD_REDIRECTION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/class_port_info.h"

namespace ibemu::mad {

// An agent may send its clients elsewhere: it answers any request with status
// bit 1 ("redirection required", IBA vol 1 §13.4.7) and its ClassPortInfo,
// which says to which port and queue pair (§13.4.8.1).  In Linux each user of
// ib_mad follows by itself, and so does each Agent's client here: one
// Redirection for a request, and another Send() of the request for each target.
class Redirection {
 public:
  // A request is redirected so often at most: two agents may point at each
  // other.
  static constexpr int kMost = 4;

  struct Target {
    AddressVector to{};
    // Only the GID is known: `to.dlid` and, for the way back, the rest of `to`
    // must come from the SA's PathRecord for `to.grh->gid` (§13.4.8.1,
    // RedirectLID).
    bool needs_path = false;

    bool operator==(const Target&) const = default;
  };
  // Nothing: there is no redirection.
  using Result = absl::StatusOr<std::optional<Target>>;

  // Of a request that goes to `first` through `port`, which must outlive this.
  Redirection(const Port& port, const AddressVector& first)
      : port_(port), at_(first) {}

  // Where `answer`, a whole MAD, wants the request to be sent.
  //
  // Errors:
  //   InvalidArgument     no ClassPortInfo, or one that leads nowhere: neither
  //                       a unicast LID nor a GID, QP0 or the multicast QP, a
  //                       Q_Key other than QP1's (which §13.4.8.1 demands), or
  //                       a P_Key that the port does not have
  //   ResourceExhausted   the request was redirected kMost times already
  Result OnAnswer(Bytes answer);

  // Where the requests of a class go, by its ClassPortInfo.
  //
  // Errors: those of OnAnswer().
  Result OnClassPortInfo(const ClassPortInfo& info);

 private:
  Result Follow(const ClassPortInfo& info);
  std::optional<uint16_t> FindPKey(uint16_t p_key) const;
  bool IsOnOtherSubnet(const wire::Gid& gid) const;

  const Port& port_;
  AddressVector at_;  // where the request went last
  int count_ = 0;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_REDIRECTION_H_
