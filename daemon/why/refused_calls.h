// RefusedCalls: the commands that programs got an error for.
#ifndef IBEMU_DAEMON_WHY_REFUSED_CALLS_H_
#define IBEMU_DAEMON_WHY_REFUSED_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "cuse/uverbs/uverbs_file.h"
#include "cuse/uverbs/uverbs_files.h"
#include "wire/types.h"

namespace ibemu::daemon {

// A RefusedCalls hears of each command of verbs that ends with an error, for
// which a program has an errno and no reason.  It keeps the last kMax of each
// adapter; the same again, of the same process, counts.
class RefusedCalls {
 public:
  static constexpr size_t kMax = 32;

  struct Call {
    uint64_t process = 0;  // see verbs::Memory::process()
    std::string why;       // "CREATE_CQ was refused with EINVAL: cqe is 0 ..."
    absl::Time first{}, last{};
    uint64_t count = 1;
  };

  // Called with a call that is not the same again.
  using Listener = std::function<void(wire::Guid node_guid, const Call& call)>;

  // `timers` must outlive this object, and this object the files in `files`.
  RefusedCalls(Timers& timers, cuse::UverbsFiles& files);
  RefusedCalls(const RefusedCalls&) = delete;
  RefusedCalls& operator=(const RefusedCalls&) = delete;

  // Returns those of an adapter, the latest last.
  const std::deque<Call>& Of(wire::Guid node_guid) const;
  // Returns whose it was, and why: "node-1 process 4711: CREATE_CQ was refused
  // with EINVAL: cqe is 0 ...".
  static std::string Sentence(std::string_view node, const Call& call);

  // There is at most one; null: none.
  void SetListener(Listener listener) { listener_ = std::move(listener); }

 private:
  void OnRefusal(const cuse::UverbsFile& file, uint32_t command,
                 const absl::Status& status);

  Timers& timers_;
  Listener listener_;  // null: none
  std::map<wire::Guid, std::deque<Call>> calls_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_REFUSED_CALLS_H_
