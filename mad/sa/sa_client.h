// SaClient: queries of subnet administration, as a kernel's ib_sa makes them.
#ifndef IBEMU_MAD_SA_SA_CLIENT_H_
#define IBEMU_MAD_SA_SA_CLIENT_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "mad/host.h"
#include "mad/wire/sa_paths.h"
#include "mad/wire/sa_services.h"

namespace ibemu::mad {

// A SaQuery is one outstanding question.  Destroying it cancels it: its answer
// is not told then, and nothing waits for it.
class SaQuery {
 public:
  virtual ~SaQuery() = default;
};

// The time to wait for an answer, and the number of times to ask again.
struct SaRetryPolicy {
  absl::Duration timeout;
  int retries = 0;
};

// A SaClient asks the SA that the port's PortInfo names (SMLID, SMSL), as
// drivers/infiniband/core/sa_query.c does.
//
// `done` is called once, never before the call returns; it may destroy the
// query and the client.  It is not called if the client is destroyed before.
// Its status is
//   InvalidArgument    the SA answered with an error or with no record
//   DeadlineExceeded   no answer
//   FailedPrecondition the port knows no SM (Linux: EAGAIN)
//   Unavailable        the device is gone
class SaClient {
 public:
  template <typename T>
  using Done = absl::AnyInvocable<void(absl::StatusOr<T>)>;

  // `host` and `timers` must outlive this.
  SaClient(Timers& timers, Host& host, int port);
  ~SaClient();

  // Get(PathRecord).
  std::unique_ptr<SaQuery> GetPath(const PathRecord& record, uint64_t mask,
                                   SaRetryPolicy retry, Done<PathRecord> done);

  // Set(MCMemberRecord): joins, and makes the group if the mask suffices.
  std::unique_ptr<SaQuery> JoinGroup(const McMemberRecord& record,
                                     uint64_t mask, SaRetryPolicy retry,
                                     Done<McMemberRecord> done);

  // Delete(MCMemberRecord): leaves.
  std::unique_ptr<SaQuery> LeaveGroup(const McMemberRecord& record,
                                      uint64_t mask, SaRetryPolicy retry,
                                      Done<McMemberRecord> done);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // queries may outlive this
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SA_SA_CLIENT_H_
