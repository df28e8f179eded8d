// RdmaCmCommands: the commands of rdma_cm, from bytes to calls and back.
#ifndef IBEMU_CUSE_RDMA_CM_RDMA_CM_COMMANDS_H_
#define IBEMU_CUSE_RDMA_CM_RDMA_CM_COMMANDS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuse/errno.h"
#include "mad/address.h"
#include "rdma_cm/channel.h"

namespace ibemu::cuse {

// An RdmaCmCommands carries out the commands of one open, all but GET_EVENT.
class RdmaCmCommands {
 public:
  struct Call {
    uint32_t command = 0;
    uint16_t in = 0;   // what the header says of the command's size
    uint16_t out = 0;  // and of the answer's
    mad::Bytes body{};
    pid_t caller = 0;
  };

  // What is to be done for a call.
  struct Answer {
    Errno error = Errno::kOk;

    // The answer, to be written to the client's memory, and what undoes the
    // command if that fails.
    uint64_t address = 0;
    std::vector<std::byte> response{};
    std::function<void()> undo{};

    // If set, `read_size` bytes of the client's memory at `address` are to be
    // read first, and this gives the result.
    size_t read_size = 0;
    std::function<Errno(mad::Bytes)> with_data{};
  };

  // REQUIRES: `channel` outlives this, and the functions in its answers.
  explicit RdmaCmCommands(rdma_cm::Channel& channel) : channel_(channel) {}

  // REQUIRES: the command is one of Linux's, and not GET_EVENT.
  Answer Execute(const Call& call);

  // Returns the smallest `out` with which a command is carried out.
  static size_t LeastOut(uint32_t command);

 private:
  using Handler = Answer (RdmaCmCommands::*)(const Call& call);
  static Handler HandlerOf(uint32_t command);

  Answer CreateId(const Call& call);
  Answer DestroyId(const Call& call);
  Answer BindIp(const Call& call);
  Answer Bind(const Call& call);
  Answer ResolveIp(const Call& call);
  Answer ResolveAddress(const Call& call);
  Answer ResolveRoute(const Call& call);
  Answer QueryRoute(const Call& call);
  Answer Query(const Call& call);
  Answer Connect(const Call& call);
  Answer Listen(const Call& call);
  Answer Accept(const Call& call);
  Answer Reject(const Call& call);
  Answer Disconnect(const Call& call);
  Answer InitQpAttr(const Call& call);
  Answer SetOption(const Call& call);
  Answer Notify(const Call& call);
  Answer JoinIpMulticast(const Call& call);
  Answer JoinMulticast(const Call& call);
  Answer LeaveMulticast(const Call& call);
  Answer MigrateId(const Call& call);

  Answer BindTo(uint32_t id, const rdma_cm::SocketAddress& address,
                pid_t caller);
  Answer Join(uint64_t response, uint64_t uid, uint32_t id,
              const rdma_cm::SocketAddress& group, uint8_t join_state);

  rdma_cm::Channel& channel_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_RDMA_CM_COMMANDS_H_
