// EndedContexts: the pitfalls of uverbs files that programs have closed.
#ifndef IBEMU_DAEMON_WHY_ENDED_CONTEXTS_H_
#define IBEMU_DAEMON_WHY_ENDED_CONTEXTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/time/time.h"
#include "base/timers.h"
#include "cuse/uverbs/uverbs_files.h"
#include "daemon/why/pitfalls.h"
#include "wire/types.h"

namespace ibemu::daemon {

// An EndedContexts looks at each uverbs file when it ends, for only then is
// what the program has not destroyed left over.  It keeps the last kMax of
// those that have a pitfall.
class EndedContexts {
 public:
  static constexpr size_t kMax = 256;

  struct Ended {
    absl::Time time{};
    wire::Guid node_guid{};
    uint64_t process = 0;
    std::vector<Pitfall> pitfalls;
  };

  // `timers` must outlive this object, and this object the files in `files`.
  EndedContexts(Timers& timers, cuse::UverbsFiles& files);
  EndedContexts(const EndedContexts&) = delete;
  EndedContexts& operator=(const EndedContexts&) = delete;

  // Oldest first.
  const std::deque<Ended>& all() const { return all_; }

 private:
  void OnEnd(const cuse::UverbsFile& file);

  Timers& timers_;
  std::deque<Ended> all_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_ENDED_CONTEXTS_H_
