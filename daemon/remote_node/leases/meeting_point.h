// MeetingPoint: the place where daemons of one machine that have a lease are
// connected.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LEASES_MEETING_POINT_H_
#define IBEMU_DAEMON_REMOTE_NODE_LEASES_MEETING_POINT_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "base/unique_fd.h"
#include "control/method_table.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

// A MeetingPoint connects two clients of the control socket that know the same
// token.
class MeetingPoint {
 public:
  static constexpr size_t kMaxWaiting = 4096;
  static constexpr absl::Duration kWaitsFor = absl::Seconds(10);

  // `timers` must outlive this.
  explicit MeetingPoint(Timers& timers) : timers_(timers) {}
  MeetingPoint(const MeetingPoint&) = delete;
  MeetingPoint& operator=(const MeetingPoint&) = delete;
  ~MeetingPoint();

  // Adds
  //   lease.meet  {"token": "..."} and one end of a pair of stream sockets.
  //               When a second client calls with the same token, both get an
  //               end of a new pair, by launch::SendDescriptor() over the
  //               socket that they sent.  If there is none within kWaitsFor,
  //               that socket is closed
  void AddTo(control::MethodTable& methods);

 private:
  struct Waiting {
    UniqueFd line;
    TimerId limit = TimerId::kNone;
  };

  absl::StatusOr<nlohmann::json> Meet(control::Parameters& parameters,
                                      control::Caller& caller);

  Timers& timers_;
  std::map<std::string, Waiting> waiting_;  // by token
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LEASES_MEETING_POINT_H_
