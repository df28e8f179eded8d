// AhCommands: address handles.
#ifndef IBEMU_VERBS_UVERBS_AH_COMMANDS_H_
#define IBEMU_VERBS_UVERBS_AH_COMMANDS_H_

#include "absl/status/status.h"
#include "verbs/provider.h"
#include "verbs/uverbs/command_table.h"
#include "verbs/uverbs/context_objects.h"

namespace ibemu::verbs {

// The commands for address handles of one context: CREATE_AH, DESTROY_AH.
class AhCommands {
 public:
  // Adds its commands to `table`.  REQUIRES: all arguments outlive this object,
  // and `table` is not used when this object has ended.
  AhCommands(CommandTable& table, Provider& provider, ContextObjects& objects);
  AhCommands(const AhCommands&) = delete;
  AhCommands& operator=(const AhCommands&) = delete;

 private:
  absl::Status CreateAh(CommandCall& call);
  absl::Status DestroyAh(CommandCall& call);

  Provider& provider_;
  ContextObjects& objects_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_AH_COMMANDS_H_
