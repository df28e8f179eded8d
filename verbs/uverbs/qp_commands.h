// QpCommands: queue pairs and their multicast groups.
#ifndef IBEMU_VERBS_UVERBS_QP_COMMANDS_H_
#define IBEMU_VERBS_UVERBS_QP_COMMANDS_H_

#include <rdma/ib_user_verbs.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/provider.h"
#include "verbs/uverbs/command_table.h"
#include "verbs/uverbs/context_client.h"
#include "verbs/uverbs/context_objects.h"

namespace ibemu::verbs {

// The commands for queue pairs of one context, and for the multicast groups
// that they are attached to.  What is posted to them: WorkRequestCommands.
class QpCommands {
 public:
  // Adds its commands to `table`.  REQUIRES: all arguments outlive this object,
  // and `table` is not used when this object has ended.
  QpCommands(CommandTable& table, Provider& provider, ContextClient& client,
             ContextObjects& objects);
  QpCommands(const QpCommands&) = delete;
  QpCommands& operator=(const QpCommands&) = delete;

 private:
  absl::Status CreateQp(CommandCall& call);
  absl::Status QueryQp(CommandCall& call);
  absl::Status ModifyQp(CommandCall& call);
  absl::Status DestroyQp(CommandCall& call);
  absl::Status AttachMcast(CommandCall& call);
  absl::Status DetachMcast(CommandCall& call);

  // Looks up the objects that `request` names.
  //
  // Errors: InvalidArgument, a type that programs can't create or a bad handle.
  absl::StatusOr<QpInit> InitOf(const ib_uverbs_create_qp& request) const;

  Provider& provider_;
  ContextClient& client_;
  ContextObjects& objects_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_QP_COMMANDS_H_
