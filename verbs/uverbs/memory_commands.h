// MemoryCommands: protection domains and memory regions.
#ifndef IBEMU_VERBS_UVERBS_MEMORY_COMMANDS_H_
#define IBEMU_VERBS_UVERBS_MEMORY_COMMANDS_H_

#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "verbs/memory.h"
#include "verbs/provider.h"
#include "verbs/uverbs/command_table.h"
#include "verbs/uverbs/context_client.h"
#include "verbs/uverbs/context_objects.h"

namespace ibemu::verbs {

// The commands for protection domains and memory regions of one context: *_PD,
// *_MR.
class MemoryCommands {
 public:
  // Adds its commands to `table`.  REQUIRES: all arguments outlive this object,
  // and `table` is not used when this object has ended.
  MemoryCommands(CommandTable& table, Provider& provider, ContextClient& client,
                 Timers& timers, ContextObjects& objects);
  ~MemoryCommands();
  MemoryCommands(const MemoryCommands&) = delete;
  MemoryCommands& operator=(const MemoryCommands&) = delete;

 private:
  absl::Status AllocPd(CommandCall& call);
  absl::Status DeallocPd(CommandCall& call);
  absl::Status RegMr(CommandCall& call);
  // Answers a RegMr().
  void Register(uint32_t pd_handle, MrInit init,
                absl::StatusOr<std::unique_ptr<Memory::Pin>> pin,
                uint64_t address, CommandCall::Done done);
  Answer AddMr(uint32_t pd_handle, MrInit init,
               absl::StatusOr<std::unique_ptr<Memory::Pin>> pin);
  absl::Status DeregMr(CommandCall& call);

  Provider& provider_;
  ContextClient& client_;
  Timers& timers_;
  ContextObjects& objects_;
  uint64_t last_late_ = 0;
  // The registrations that take longer than they have to.
  std::map<uint64_t, TimerId> late_;
  // Null inside once this has ended; callbacks that run later check that.
  std::shared_ptr<MemoryCommands*> self_ =
      std::make_shared<MemoryCommands*>(this);
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_MEMORY_COMMANDS_H_
