// ClientMemory: the memory of a process that uses verbs, accessed by jobs of a
// WorkerPool.
#ifndef IBEMU_CUSE_CLIENT_CLIENT_MEMORY_H_
#define IBEMU_CUSE_CLIENT_CLIENT_MEMORY_H_

#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "base/worker_pool.h"
#include "cuse/client/pinned_pages.h"
#include "verbs/memory.h"

namespace ibemu::cuse {

// The memory of one process.  Its calls are carried out one after the other.
//
// If we may reach more than the process may (CAP_SYS_PTRACE), then what it has
// registered ends with the program that it runs: the number of the process
// would lead into a set-id program that it starts, whose memory whoever has the
// keys would read and write.
class ClientMemory final : public verbs::Memory {
 public:
  // `process` is the id of the process.  REQUIRES: `workers` outlives this
  // object, but not necessarily its calls.
  ClientMemory(WorkerPool& workers, ClientId process,
               std::shared_ptr<PinnedPages> pinned);
  ~ClientMemory() override;
  ClientMemory(const ClientMemory&) = delete;
  ClientMemory& operator=(const ClientMemory&) = delete;

  // Returns false once the process has ended, or the program that registered
  // memory, and ever after.
  bool Lives() const;

  uint64_t process() const override { return static_cast<uint64_t>(process_); }

  void PinPages(uint64_t start, uint64_t length, bool writable,
                Pinned done) override;
  void Read(std::vector<verbs::MemoryPiece> pieces, Done done) override;
  void Write(std::vector<verbs::MemoryPiece> pieces, Done done) override;

 private:
  // A pidfd.  Unlike the number, it never comes to mean another process.
  using Process = std::shared_ptr<UniqueFd>;
  // /proc/PID/mem, which stays with the program of that time.
  using Program = std::shared_ptr<UniqueFd>;

  enum class Direction { kRead, kWrite };
  void Run(Direction direction, std::vector<verbs::MemoryPiece> pieces,
           Done done);
  static absl::Status Transfer(Direction direction, pid_t process,
                               const Process& lives, const Program& program,
                               const std::vector<verbs::MemoryPiece>& pieces);
  static absl::Status TransferByProgram(
      Direction direction, const UniqueFd& program,
      const std::vector<verbs::MemoryPiece>& pieces);

  WorkerPool& workers_;
  const ClientId process_;
  const Process lives_;
  const std::shared_ptr<PinnedPages> pinned_;
  // Null as long as nothing is registered, for then all calls are on behalf of
  // a thread that waits for them, so its process can't start a program; and
  // where the kernel looks after the rights.
  Program program_;
  std::shared_ptr<ClientMemory*> self_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_CLIENT_MEMORY_H_
