// Mailboxes: the parameters of commands in the host's memory.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_MAILBOXES_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_MAILBOXES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hca/model/mlx4/core/command.h"
#include "hca/model/mlx4/core/host_memory.h"
#include "hca/prm/mlx4_commands.h"

namespace ibemu::hca::model::mlx4 {

// The reader of input mailboxes and writer of output mailboxes, each of one
// wire structure.  The status is INTERNAL_ERR if the mailbox can't be reached.
class Mailboxes {
 public:
  // `host` must outlive this object.
  explicit Mailboxes(HostMemory& host) : host_(host) {}

  // Reads the input mailbox, from `offset` on; none if it can't be reached.
  template <wire::Structure T>
  std::optional<T> In(const CommandRequest& request,
                      uint64_t offset = 0) const {
    return ReadStructure<T>(host_, request.in_param + offset);
  }

  // Reads the input mailbox as In() does, and returns BAD_PARAM unless all
  // reserved bits are zero.
  template <wire::Structure T>
  prm::CommandStatus Take(const CommandRequest& request, T& value,
                          uint64_t offset = 0) const {
    std::array<std::byte, wire::kBytes<T>> bytes;
    if (!host_.Read(request.in_param + offset, bytes)) {
      return prm::CommandStatus::kInternalError;
    }
    value = wire::Decode<T>(bytes);
    return ToBytes(value) == bytes ? prm::CommandStatus::kOk
                                   : prm::CommandStatus::kBadParam;
  }

  template <wire::Structure T>
  prm::CommandStatus Out(const CommandRequest& request, const T& value) const {
    return WriteStructure(host_, request.out_param, value)
               ? prm::CommandStatus::kOk
               : prm::CommandStatus::kInternalError;
  }

  // SW2HW: passes the context in the mailbox to `start`.
  template <wire::Structure T, class Start>
  prm::CommandStatus Give(const CommandRequest& request, Start start) const {
    T context;
    const prm::CommandStatus status = Take(request, context);
    return status == prm::CommandStatus::kOk ? start(context) : status;
  }

  // HW2SW: returns the context to software, if software wants it.
  template <wire::Structure T>
  prm::CommandStatus TakeBack(const CommandRequest& request,
                              const T& context) const {
    if ((request.op_modifier & prm::kNoOutbox) != 0) {
      return prm::CommandStatus::kOk;
    }
    return Out(request, context);
  }

 private:
  HostMemory& host_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_MAILBOXES_H_
