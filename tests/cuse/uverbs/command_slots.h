// A client's commands in memory that it shares with the daemon.
#ifndef IBEMU_TESTS_CUSE_UVERBS_COMMAND_SLOTS_H_
#define IBEMU_TESTS_CUSE_UVERBS_COMMAND_SLOTS_H_

#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "cuse/reply.h"
#include "fast_path/rings/uverbs_ring_memory.h"
#include "tests/cuse/rings/client_memory_file.h"
#include "verbs/uverbs/command.h"

namespace ibemu::cuse {

// A CommandSlots fills slots as a client does, and reads their answers.
class CommandSlots {
 public:
  using Memory = fast_path::UverbsRingMemory;
  using Slot = fast_path::CommandSlot;

  struct Answer {
    int error = 0;
    std::vector<std::byte> response;
  };

  void Ask(size_t slot, Bytes command, std::optional<Bytes> data = {}) {
    Slot& filled = memory->slots[slot];
    std::ranges::copy(command, std::begin(filled.command));
    filled.command_length = static_cast<uint32_t>(command.size());
    filled.data_length = Slot::kNoData;
    if (data) {
      std::ranges::copy(*data, std::begin(filled.data));
      filled.data_length = static_cast<uint32_t>(data->size());
    }
    filled.awaited = 1;
    filled.order = memory->asked_so_far++;
    filled.state = fast_path::CommandState::kAsked;
    memory->taken |= uint64_t{1} << slot;
    memory->asked |= uint64_t{1} << slot;
  }
  // Posts without waiting.
  void Leave(size_t slot, Bytes post) {
    Ask(slot, post);
    memory->slots[slot].awaited = 0;
    const auto command = verbs::ReadAs<ib_uverbs_cmd_hdr>(post).command;
    if (command != IB_USER_VERBS_CMD_POST_RECV) return;
    memory->asked &= ~(uint64_t{1} << slot);
    memory->receives |= uint64_t{1} << slot;
  }
  bool IsFree(size_t slot) const {
    return (memory->taken & uint64_t{1} << slot) == 0;
  }
  // Nothing as long as there is no answer.
  std::optional<Answer> AnswerIn(size_t slot) const {
    const Slot& asked = memory->slots[slot];
    if (asked.state != fast_path::CommandState::kAnswered) return std::nullopt;
    return Answer{static_cast<int>(asked.error),
                  {asked.answer, asked.answer + asked.answer_length}};
  }
  bool served() const { return memory->control.IsServed(); }
  bool closed() const { return memory->control.closed != 0; }

  const ClientMemoryFile file{sizeof(Memory)};
  Memory* const memory = static_cast<Memory*>(file.address());
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_UVERBS_COMMAND_SLOTS_H_
