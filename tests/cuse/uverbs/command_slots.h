// A client's commands in memory that it shares with the daemon.
#ifndef IBEMU_TESTS_CUSE_UVERBS_COMMAND_SLOTS_H_
#define IBEMU_TESTS_CUSE_UVERBS_COMMAND_SLOTS_H_

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "cuse/reply.h"
#include "fast_path/rings/uverbs_ring_memory.h"
#include "tests/cuse/rings/client_memory_file.h"

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
    filled.state = fast_path::CommandState::kAsked;
    memory->asked |= uint64_t{1} << slot;
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
