// SaQueries: the queries to subnet administration that are being answered.
#ifndef IBEMU_FABRIC_SA_SA_QUERIES_H_
#define IBEMU_FABRIC_SA_SA_QUERIES_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "fabric/sa/sa_lookup.h"
#include "fabric/sa/sa_request.h"
#include "mad/agent.h"

namespace ibemu::fabric {

// The answers in progress, each from its request to its last ACK.  Records are
// found in steps, between which the loop serves others.
class SaQueries {
 public:
  // Limits on answers in progress, for one requester and for all; further
  // requests get BUSY.
  static constexpr size_t kMaxOfRequester = 32;
  static constexpr size_t kMaxAnswers = 256;
  // The most bytes of all answers together; a request beyond that gets
  // ERR_NO_RESOURCES.
  static constexpr size_t kMaxBytes = 4 * SaRecords::kMaxBytes;

  // Answers are sent through `agent`.  `lookup` and `timers` must outlive this
  // object; `agent` may end before it, and is not used from then on.
  SaQueries(const SaLookup& lookup, mad::Agent& agent, Timers& timers)
      : lookup_(lookup), agent_(agent), timers_(timers) {}
  SaQueries(const SaQueries&) = delete;
  SaQueries& operator=(const SaQueries&) = delete;

  // Begins to answer a query.  A repeated one, whose answer is in progress, is
  // ignored.
  void Begin(const SaRequest& request);

  // Called when the send that has this cookie is over.  Ignores the cookies of
  // others; 0 is never the cookie of an answer.
  void OnSendOver(uint64_t cookie) { End(cookie); }

 private:
  struct Answer {
    uint64_t id = 0;
    SaRequest request;
    std::unique_ptr<RecordSource> source;  // null: all records are found
    SaRecords records{1};
    size_t bytes = 0;
  };

  bool InProgress(const SaRequest& request) const;
  void Refuse(const SaRequest& request, mad::MadStatus status);
  void Continue(uint64_t id);
  bool IsTooLong(const Answer& answer) const;
  void Finish(Answer& answer);
  void End(uint64_t id);

  const SaLookup& lookup_;
  mad::Agent& agent_;
  Timers& timers_;
  uint64_t next_id_ = 1;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Answer>> answers_;
  absl::flat_hash_map<PortId, size_t> answers_of_;
  size_t bytes_ = 0;  // of all answers
  // Idle tasks may outlive this object: they hold a weak_ptr to this.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SA_QUERIES_H_
