#include "cuse/uverbs_opens.h"

#include <fcntl.h>

#include <utility>

namespace ibemu::cuse {

std::unique_ptr<File> UverbsOpens::Open(uint64_t inode,
                                        std::shared_ptr<mad::Host> host,
                                        verbs::Provider& provider,
                                        Timers& timers, WorkerPool& workers,
                                        int flags) {
  absl::erase_if(offers_,
                 [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<UverbsOffers>& known = offers_[inode];
  std::shared_ptr<UverbsOffers> offers = known.lock();
  if (offers != nullptr && (flags & O_ACCMODE) == O_RDONLY) {
    return std::make_unique<UverbsEventFile>(
        std::move(offers), UverbsEventFile::Teller::kSupervisor);
  }
  if (offers == nullptr) known = offers = std::make_shared<UverbsOffers>();
  return std::make_unique<UverbsFile>(std::move(host), provider, timers,
                                      workers, std::move(offers), pinned_);
}

}  // namespace ibemu::cuse
