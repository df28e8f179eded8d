// Firmware: the part of the adapter that carries out commands.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_FIRMWARE_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_FIRMWARE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hca/model/mlx4/core/command.h"
#include "hca/model/mlx4/core/core.h"
#include "hca/model/mlx4/core/memory_table.h"
#include "hca/model/mlx4/core/multicast_table.h"
#include "hca/model/mlx4/queues/completion_queues.h"
#include "hca/model/mlx4/queues/event_queues.h"
#include "hca/model/mlx4/queues/ports.h"
#include "hca/model/mlx4/queues/shared_receive_queues.h"
#include "hca/model/mlx4/transport/queue_pairs.h"

namespace ibemu::hca::model::mlx4 {

// The parts of the adapter that commands work on.
struct Parts {
  Core& core;
  EventQueues& events;
  CompletionQueues& completions;
  MemoryTable& memory;
  MulticastTable& multicast;
  SharedReceiveQueues& shared;
  QueuePairs& queue_pairs;
  Ports& ports;
};

// The executor of commands, with its stage of bring-up.
class Firmware {
 public:
  // The stages of bring-up.
  enum class Stage {
    kReset,    // nothing runs but the boot loader
    kRunning,  // RUN_FW
    kUp,       // INIT_HCA
  };

  explicit Firmware(const Parts& parts) : parts_(parts) {}

  // Carries out a command.  Refuses it if the stage, the alignment of its
  // mailboxes or its arguments don't allow it; a refused command changes
  // nothing.
  CommandReply Execute(const CommandRequest& request);

  // Returns true if the command has an input mailbox.  False for an unknown
  // command.
  static bool TakesInbox(prm::Opcode opcode);

  Stage stage() const { return stage_; }

  // Restores the state after power-on.
  void Reset();

 private:
  using Status = prm::CommandStatus;
  struct Kind;
  static const Kind* KindOf(prm::Opcode opcode);

  Status Check(const Kind& kind, const CommandRequest& request) const;
  CommandReply Dispatch(const CommandRequest& request);
  CommandReply DispatchUp(const CommandRequest& request);

  // Bring-up.
  Status MapFirmwareArea(const CommandRequest& request);
  Status RunFirmware();
  Status UnmapFirmwareArea();
  Status MapAuxiliary(const CommandRequest& request);
  Status UnmapAuxiliary();
  Status MapIcm(const CommandRequest& request);
  Status UnmapIcm(const CommandRequest& request);
  Status InitHca(const CommandRequest& request);
  Status CheckTables(const prm::HcaTables& tables) const;
  void CloseHca();
  Status QueryPort(const CommandRequest& request);
  Status StaticConfiguration(const CommandRequest& request);
  CommandReply SetIcmSize(const CommandRequest& request);
  using Chunks = std::vector<prm::VirtualPhysicalMapping>;
  // Appends the chunks in a mailbox of MAP_FA, MAP_ICM_AUX or MAP_ICM to
  // `chunks`, all or none.  Returns INTERNAL_ERR if some of that memory can't
  // be reached.
  Status ReadChunks(const CommandRequest& request, Chunks& chunks) const;
  static uint64_t PagesOf(const Chunks& chunks);
  // Returns true if all of the memory that the host lends, or lent, can be
  // reached.
  bool CanReach(const Chunks& chunks) const;

  // Management.
  Status MadIfc(const CommandRequest& request);
  Status MadDemux(const CommandRequest& request);
  Status Mcg(const CommandRequest& request);
  CommandReply MgidHash(const CommandRequest& request);
  Status Port(const CommandRequest& request);
  Status WriteMtt(const CommandRequest& request);
  Status QueuePairCommand(const CommandRequest& request);

  // Mailboxes.
  template <wire::Structure T>
  std::optional<T> In(const CommandRequest& request,
                      uint64_t offset = 0) const {
    return ReadStructure<T>(parts_.core.host, request.in_param + offset);
  }
  // Reads the input mailbox as In() does, and returns BAD_PARAM unless all
  // reserved bits are zero.
  template <wire::Structure T>
  Status Take(const CommandRequest& request, T& value,
              uint64_t offset = 0) const {
    std::array<std::byte, wire::kBytes<T>> bytes;
    if (!parts_.core.host.Read(request.in_param + offset, bytes)) {
      return Status::kInternalError;
    }
    value = wire::Decode<T>(bytes);
    return ToBytes(value) == bytes ? Status::kOk : Status::kBadParam;
  }
  // Reads the context of a queue pair.  For one that uses a shared receive
  // queue, the receive queue's own fields are not checked.
  Status TakeQpContext(const CommandRequest& request,
                       prm::QpContext& context) const;
  template <wire::Structure T>
  Status Out(const CommandRequest& request, const T& value) const {
    return WriteStructure(parts_.core.host, request.out_param, value)
               ? Status::kOk
               : Status::kInternalError;
  }
  // SW2HW: passes the context in the mailbox to `start`.
  template <wire::Structure T, class Start>
  Status Give(const CommandRequest& request, Start start) const;
  // HW2SW: returns the context to software, if software wants it.
  template <wire::Structure T>
  Status TakeBack(const CommandRequest& request, const T& context) const;

  Parts parts_;
  Stage stage_ = Stage::kReset;
  Chunks firmware_area_, auxiliary_area_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_FIRMWARE_H_
