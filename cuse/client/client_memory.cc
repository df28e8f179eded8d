#include "cuse/client/client_memory.h"

#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/status/status.h"
#include "base/pidfd.h"
#include "cuse/client/mapped_range.h"
#include "cuse/client/process_life.h"

namespace ibemu::cuse {
namespace {

// A copy of this size ends before another thread would have begun it.
constexpr size_t kBriefBytes = size_t{256} << 10;

}  // namespace

ClientMemory::ClientMemory(WorkerPool& workers, ClientId process,
                           std::shared_ptr<PinnedPages> pinned)
    : workers_(workers),
      process_(process),
      lives_(std::make_shared<UniqueFd>(
          pidfd_open(static_cast<pid_t>(process), 0))),
      pinned_(std::move(pinned)) {}

bool ClientMemory::Lives() const { return IsAlive(*lives_); }

void ClientMemory::PinPages(uint64_t start, uint64_t length, bool writable,
                            Pinned done) {
  const auto id = static_cast<pid_t>(process_);
  struct Found {
    LockLimit limit;
    absl::Status mapped;
  };
  auto found = std::make_shared<Found>();  // shared as in Run()
  workers_.Run(
      process_,
      [found, id, start, length, writable] {
        found->limit = LockLimitOf(id);
        found->mapped = CheckMapped(id, start, length, writable);
      },
      [found, id, start, length, lives = lives_, pinned = pinned_,
       done = std::move(done)](WorkerPool::Outcome outcome) mutable {
        if (outcome != WorkerPool::Outcome::kDone) {
          return done(absl::DataLossError("its memory does not answer"));
        }
        if (!IsAlive(*lives)) {  // the job may have seen another process
          return done(absl::UnavailableError("the process has ended"));
        }
        auto pin = pinned->Charge(pinned->AccountOf(id, lives), found->limit,
                                  start, length);
        if (pin.ok() && !found->mapped.ok()) return done(found->mapped);
        done(std::move(pin));
      });
}

void ClientMemory::Read(std::vector<verbs::MemoryPiece> pieces, Done done) {
  Run(Direction::kRead, std::move(pieces), std::move(done));
}

void ClientMemory::Write(std::vector<verbs::MemoryPiece> pieces, Done done) {
  Run(Direction::kWrite, std::move(pieces), std::move(done));
}

void ClientMemory::Run(Direction direction,
                       std::vector<verbs::MemoryPiece> pieces, Done done) {
  size_t size = 0;
  for (const verbs::MemoryPiece& piece : pieces) size += piece.size;
  // Set by the job, then read by the loop.  The job may outlive this object.
  auto status = std::make_shared<absl::Status>();
  auto job = [status, direction, process = static_cast<pid_t>(process_),
              lives = lives_, pieces = std::move(pieces)] {
    *status = Transfer(direction, process, lives, pieces);
  };
  auto finish = [status,
                 done = std::move(done)](WorkerPool::Outcome outcome) mutable {
    done(outcome == WorkerPool::Outcome::kDone
             ? *status
             : absl::DataLossError("its memory does not answer"));
  };
  if (size <= kBriefBytes) {
    workers_.RunBriefly(process_, std::move(job), std::move(finish));
  } else {
    workers_.Run(process_, std::move(job), std::move(finish));
  }
}

absl::Status ClientMemory::Transfer(
    Direction direction, pid_t process, const Process& lives,
    const std::vector<verbs::MemoryPiece>& pieces) {
  if (!IsAlive(*lives)) {
    return absl::UnavailableError("the process has ended");
  }
  for (size_t first = 0; first < pieces.size(); first += IOV_MAX) {
    std::vector<iovec> here, there;
    size_t size = 0;
    const size_t end = std::min<size_t>(first + IOV_MAX, pieces.size());
    for (size_t i = first; i < end; ++i) {
      const verbs::MemoryPiece& piece = pieces[i];
      here.push_back({piece.buffer->data() + piece.offset, piece.size});
      there.push_back({reinterpret_cast<void*>(piece.address), piece.size});
      size += piece.size;
    }
    const ssize_t done =
        direction == Direction::kRead
            ? process_vm_readv(process, here.data(), here.size(), there.data(),
                               there.size(), 0)
            : process_vm_writev(process, here.data(), here.size(), there.data(),
                                there.size(), 0);
    if (done < 0 && errno == ESRCH) {
      return absl::UnavailableError("the process is ending");
    }
    if (done < 0 || static_cast<size_t>(done) != size) {
      return absl::DataLossError("not all of it can be reached");
    }
  }
  return absl::OkStatus();
}

}  // namespace ibemu::cuse
