// SrqCommands: shared receive queues.
#ifndef IBEMU_VERBS_UVERBS_SRQ_COMMANDS_H_
#define IBEMU_VERBS_UVERBS_SRQ_COMMANDS_H_

#include "absl/status/status.h"
#include "verbs/provider.h"
#include "verbs/uverbs/command_table.h"
#include "verbs/uverbs/context_objects.h"

namespace ibemu::verbs {

// The commands for shared receive queues of one context.  What is posted to
// them: WorkRequestCommands.
class SrqCommands {
 public:
  // Adds its commands to `table`.  REQUIRES: all arguments outlive this object,
  // and `table` is not used when this object has ended.
  SrqCommands(CommandTable& table, Provider& provider, ContextObjects& objects);
  SrqCommands(const SrqCommands&) = delete;
  SrqCommands& operator=(const SrqCommands&) = delete;

 private:
  absl::Status CreateSrq(CommandCall& call);
  absl::Status ModifySrq(CommandCall& call);
  absl::Status QuerySrq(CommandCall& call);
  absl::Status DestroySrq(CommandCall& call);

  Provider& provider_;
  ContextObjects& objects_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_SRQ_COMMANDS_H_
