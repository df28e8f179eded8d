// WorkRequestCommands: posting work requests.
#ifndef IBEMU_VERBS_UVERBS_WORK_REQUEST_COMMANDS_H_
#define IBEMU_VERBS_UVERBS_WORK_REQUEST_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "verbs/provider.h"
#include "verbs/uverbs/command_table.h"
#include "verbs/uverbs/context_client.h"
#include "verbs/uverbs/context_objects.h"

namespace ibemu::verbs {

// The commands of one context that post work requests to queue pairs and shared
// receive queues: POST_*.
class WorkRequestCommands {
 public:
  // Adds its commands to `table`.  REQUIRES: all arguments outlive this object,
  // and `table` is not used when this object has ended.
  WorkRequestCommands(CommandTable& table, ContextClient& client,
                      ContextObjects& objects);
  ~WorkRequestCommands() { *self_ = nullptr; }
  WorkRequestCommands(const WorkRequestCommands&) = delete;
  WorkRequestCommands& operator=(const WorkRequestCommands&) = delete;

 private:
  absl::Status PostSend(CommandCall& call);
  absl::Status PostRecv(CommandCall& call);
  absl::Status PostSrqRecv(CommandCall& call);

  absl::Status Post(QpObject& qp, std::span<SendRequest> sends,
                    const absl::Status& rest, size_t& taken) const;
  // Reads the inline data of the requests from the client, then posts them.
  void PostInline(CommandCall& call, uint32_t qp,
                  std::vector<SendRequest> requests, absl::Status rest);

  ContextClient& client_;
  ContextObjects& objects_;
  // Null inside once this has ended; callbacks that run later check that.
  std::shared_ptr<WorkRequestCommands*> self_ =
      std::make_shared<WorkRequestCommands*>(this);
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_WORK_REQUEST_COMMANDS_H_
