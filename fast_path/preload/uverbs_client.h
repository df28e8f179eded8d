// UverbsClient: commands to an open uverbsN through memory that the daemon has,
// too.
#ifndef IBEMU_FAST_PATH_PRELOAD_UVERBS_CLIENT_H_
#define IBEMU_FAST_PATH_PRELOAD_UVERBS_CLIENT_H_

#include <rdma/ib_user_verbs.h>

#include <cstddef>
#include <cstdint>

#include "fast_path/preload/attached_files.h"
#include "fast_path/preload/completion_reader.h"
#include "fast_path/preload/promise_claim.h"
#include "fast_path/rings/uverbs_ring_memory.h"

namespace ibemu::fast_path {

// A view of one file's memory, which has a command carried out as a write() to
// the device file would, and leaves to that what has to go there.
//
// REQUIRES: the process is the one that has attached the memory, for the
// addresses in commands are its own.
class UverbsClient {
 public:
  // REQUIRES: memory and facts outlive this object.  `fd` is the file.
  UverbsClient(UverbsRingMemory& memory, ProcessFacts& facts, int fd)
      : memory_(memory), facts_(facts), fd_(fd) {}

  // Writes a command, and waits for its answer unless that is known.  With
  // kRing it is done, or what is left of it will be as long as the daemon
  // lives: `error` is the errno with which write() fails, or 0.  Else nothing
  // was done, unless the daemon has ended meanwhile.
  Way Write(const void* command, size_t size, int& error);

 private:
  // The parts of a command that it takes to carry it.
  struct Command {
    ib_uverbs_cmd_hdr header;
    uint64_t response;  // the address; 0: none
    size_t room;        // there, in bytes
  };

  Way Judge(const void* command, size_t size, Command& judged) const;
  int64_t Yield(int64_t began) const;
  Way Poll(const ib_uverbs_poll_cq& poll, const Command& judged);
  Way PollEmpty(uint32_t queue, size_t most, uint32_t arrivals,
                CompletionReader& reader);
  Way FillData(CommandSlot& slot, size_t size) const;
  CommandSlot* TakeSlot(uint64_t& bit);
  bool Claim(const CommandSlot& slot, uint32_t command, size_t size,
             PromiseClaim& claim);
  Way Leave(CommandSlot& slot, uint32_t command, uint64_t bit);
  Way Carry(CommandSlot& slot, uint64_t& bit);
  static bool TakeBack(std::atomic<uint64_t>& asked, uint64_t bit);
  // Returns false if nobody is there who could answer.
  bool Sleep(std::atomic<CommandState>& state);

  UverbsRingMemory& memory_;
  ProcessFacts& facts_;
  const int fd_;
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_UVERBS_CLIENT_H_
