#include "cuse/client/client_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/pidfd.h"
#include "cuse/client/mapped_range.h"
#include "cuse/client/process_life.h"

namespace ibemu::cuse {
namespace {

// A copy of this size ends before another thread would have begun it.
constexpr size_t kBriefBytes = size_t{256} << 10;

// Root has nothing to gain by a set-id program.
bool CanReachMoreThan(pid_t process) {
  __user_cap_header_struct self{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  struct stat owner {};
  return syscall(SYS_capget, &self, sets.data()) == 0 &&
         (sets[0].effective >> CAP_SYS_PTRACE & 1) != 0 &&
         (stat(absl::StrCat("/proc/", process).c_str(), &owner) != 0 ||
          owner.st_uid != 0);
}

std::shared_ptr<UniqueFd> OpenProgram(pid_t process) {
  return std::make_shared<UniqueFd>(open(
      absl::StrCat("/proc/", process, "/mem").c_str(), O_RDWR | O_CLOEXEC));
}

// Nothing is written: where there is a program, the kernel looks at the data
// first (EFAULT), and never at the pages, which might take long.
bool IsStillRun(const UniqueFd& program) {
  return syscall(SYS_pwrite64, program.get(), nullptr, 1, 0) != 0;
}

// Returns what was transferred, which is less than asked for where a page is
// missing; 0 as well if the program has ended.
size_t ReadProgram(const UniqueFd& program, std::byte* here, size_t size,
                   uint64_t there) {
  size_t done = 0;
  while (done < size) {
    const ssize_t more = pread(program.get(), here + done, size - done,
                               static_cast<off_t>(there + done));
    if (more <= 0) break;
    done += static_cast<size_t>(more);
  }
  return done;
}

size_t WriteProgram(const UniqueFd& program, const std::byte* here, size_t size,
                    uint64_t there) {
  size_t done = 0;
  while (done < size) {
    const ssize_t more = pwrite(program.get(), here + done, size - done,
                                static_cast<off_t>(there + done));
    if (more <= 0) break;
    done += static_cast<size_t>(more);
  }
  return done;
}

}  // namespace

ClientMemory::ClientMemory(WorkerPool& workers, ClientId process,
                           std::shared_ptr<PinnedPages> pinned)
    : workers_(workers),
      process_(process),
      lives_(std::make_shared<UniqueFd>(
          pidfd_open(static_cast<pid_t>(process), 0))),
      pinned_(std::move(pinned)),
      self_(std::make_shared<ClientMemory*>(this)) {}

ClientMemory::~ClientMemory() { *self_ = nullptr; }

bool ClientMemory::Lives() const {
  return IsAlive(*lives_) && (program_ == nullptr || IsStillRun(*program_));
}

void ClientMemory::PinPages(uint64_t start, uint64_t length, bool writable,
                            Pinned done) {
  const auto id = static_cast<pid_t>(process_);
  struct Found {
    LockLimit limit;
    absl::Status mapped;
    Program program;
  };
  auto found = std::make_shared<Found>();  // shared as in Run()
  workers_.Run(
      process_,
      [found, id, start, length, writable, known = program_ != nullptr] {
        // The thread that registers is blocked, so no other program can take
        // the place of this one.
        if (!known && CanReachMoreThan(id)) found->program = OpenProgram(id);
        found->limit = LockLimitOf(id);
        found->mapped = CheckMapped(id, start, length, writable);
      },
      [self = self_, found, id, start, length, lives = lives_, pinned = pinned_,
       done = std::move(done)](WorkerPool::Outcome outcome) mutable {
        if (outcome != WorkerPool::Outcome::kDone) {
          return done(absl::DataLossError("its memory does not answer"));
        }
        if (!IsAlive(*lives)) {  // the job may have seen another process
          return done(absl::UnavailableError("the process has ended"));
        }
        if (found->program != nullptr && !found->program->valid()) {
          return done(absl::DataLossError("its memory can't be opened"));
        }
        if (*self != nullptr && (*self)->program_ == nullptr) {
          (*self)->program_ = std::move(found->program);
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
              lives = lives_, program = program_, pieces = std::move(pieces)] {
    *status = Transfer(direction, process, lives, program, pieces);
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
    const Program& program, const std::vector<verbs::MemoryPiece>& pieces) {
  if (!IsAlive(*lives)) {
    return absl::UnavailableError("the process has ended");
  }
  if (program != nullptr) return TransferByProgram(direction, *program, pieces);
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

absl::Status ClientMemory::TransferByProgram(
    Direction direction, const UniqueFd& program,
    const std::vector<verbs::MemoryPiece>& pieces) {
  for (const verbs::MemoryPiece& piece : pieces) {
    std::byte* const here = piece.buffer->data() + piece.offset;
    const size_t done =
        direction == Direction::kRead
            ? ReadProgram(program, here, piece.size, piece.address)
            : WriteProgram(program, here, piece.size, piece.address);
    if (done == piece.size) continue;
    return IsStillRun(program)
               ? absl::DataLossError("not all of it can be reached")
               : absl::UnavailableError("the program has ended");
  }
  return absl::OkStatus();
}

}  // namespace ibemu::cuse
