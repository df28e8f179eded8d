// The uverbs files of one tree, by inode.
#ifndef IBEMU_CUSE_UVERBS_OPENS_H_
#define IBEMU_CUSE_UVERBS_OPENS_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "cuse/uverbs_file.h"

namespace ibemu::cuse {

class UverbsOpens {
 public:
  // The file for an open() of `inode` with `flags`.  Each path look-up has an
  // inode of its own, or shares it with who opens at the same time; so who
  // opens one again, read-only, came through /proc/PID/fd and wants a
  // descriptor of events: see UverbsOffers.
  std::unique_ptr<File> Open(uint64_t inode, std::shared_ptr<mad::Host> host,
                             verbs::Provider& provider, Timers& timers,
                             WorkerPool& workers, int flags);

 private:
  absl::flat_hash_map<uint64_t, std::weak_ptr<UverbsOffers>> offers_;
  const std::shared_ptr<PinnedPages> pinned_ = PinnedPages::OfThisMachine();
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_OPENS_H_
