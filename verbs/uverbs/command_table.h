// CommandTable: the handlers of a context's commands.
#ifndef IBEMU_VERBS_UVERBS_COMMAND_TABLE_H_
#define IBEMU_VERBS_UVERBS_COMMAND_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "verbs/uverbs/command.h"
#include "verbs/uverbs/command_call.h"

namespace ibemu::verbs {

// The table of the commands of one context.  Each class of handlers (QpCommands
// and so on) adds its own.
class CommandTable {
 public:
  using Handler = std::function<absl::Status(CommandCall&)>;

  // A row of the table.  Lengths are in bytes, without headers and without what
  // a driver adds.
  struct Method {
    uint32_t number;
    bool extended;
    size_t request;
    size_t response;
    Handler handler;
  };

  // Adds the command IB_USER_VERBS_CMD_* `number`, whose request and response
  // begin with these structures of <rdma/ib_user_verbs.h>.
  template <class Request, class Response = void>
  void Add(uint32_t number, Handler handler) {
    methods_.push_back({number, false, sizeof(Request), SizeOf<Response>(),
                        std::move(handler)});
  }

  // Adds the command IB_USER_VERBS_EX_CMD_* `number`.
  template <class Request, class Response>
  void AddExtended(uint32_t number, Handler handler) {
    methods_.push_back({number, true, sizeof(Request), SizeOf<Response>(),
                        std::move(handler)});
  }

  // Returns null if there is no such command.
  const Method* Find(const Command& command) const;

 private:
  template <class Response>
  static constexpr size_t SizeOf() {
    if constexpr (std::is_void_v<Response>) {
      return 0;
    } else {
      return sizeof(Response);
    }
  }

  std::vector<Method> methods_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_COMMAND_TABLE_H_
