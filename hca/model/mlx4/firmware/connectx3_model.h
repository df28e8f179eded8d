// ConnectX3Model: a ConnectX-3, modelled at the level of its registers.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_CONNECTX3_MODEL_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_CONNECTX3_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/observer_list.h"
#include "base/timers.h"
#include "hca/model/cable.h"
#include "hca/model/mlx4/core/adapter_limits.h"
#include "hca/model/mlx4/core/core.h"
#include "hca/model/mlx4/core/fault_plan.h"
#include "hca/model/mlx4/core/memory_table.h"
#include "hca/model/mlx4/core/model_mcg_table.h"
#include "hca/model/mlx4/firmware/firmware.h"
#include "hca/model/mlx4/firmware/hcr.h"
#include "hca/model/mlx4/queues/completion_queues.h"
#include "hca/model/mlx4/queues/event_queues.h"
#include "hca/model/mlx4/queues/ports.h"
#include "hca/model/mlx4/transport/queue_pairs.h"
#include "hca/model/pci_endpoint.h"

namespace ibemu::hca::model {

// The device 15b3:1003 with one or two InfiniBand ports.  It accepts what the
// Linux driver does, and refuses what firmware refuses, with firmware's status.
class ConnectX3Model : public PciEndpoint, private mlx4::HostMemory {
 public:
  // The duration of a software reset, during which the device does not answer.
  static constexpr absl::Duration kResetTime = absl::Milliseconds(100);

  // REQUIRES: `timers` and `cables` outlive this object.  There are one or two
  // cables, one for each port, port 1's first.
  ConnectX3Model(Timers& timers, const std::vector<Cable*>& cables);

  // The observer is not owned.
  void AddObserver(CommandObserver& observer) { observers_.Add(observer); }
  void RemoveObserver(CommandObserver& observer) {
    observers_.Remove(observer);
  }

  FaultPlan& faults() { return faults_; }
  // The limits that QUERY_DEV_CAP reports and the device enforces.  A test may
  // change them to those of another adapter before a driver asks.
  prm::QueryDevCap& limits() { return core_.cap; }
  // Sets the type that QUERY_PORT reports from now on.
  void SetPortType(int port, prm::PortType type) { ports_.SetType(port, type); }
  // Reports an event of object `number` that has not happened.
  void Pretend(prm::EqeType type, uint32_t number) {
    events_.Report(type, 0, prm::QueueEvent{.number = number});
  }
  // Simulates an internal error, which lasts until a reset: the error buffer is
  // filled with `code`, an event is reported, commands hang, and doorbells and
  // packets have no effect.  `code` must not be 0.
  void Fail(uint32_t code);

  // The number of driver errors for which the adapter has no status: writes to
  // the command register while it was the adapter's, or with an old toggle bit;
  // doorbells of a queue that does not exist, from another UAR page than the
  // queue's, or for events that do not exist.
  int violations() const {
    return hcr_.violations() + queue_pairs_.bad_doorbells() +
           completions_.bad_doorbells() + events_.bad_doorbells();
  }
  // The number of commands that ended with a status other than OK since
  // power-on.
  int refusals() const { return refusals_; }
  mlx4::Firmware::Stage stage() const { return firmware_.stage(); }
  uint64_t icm_pages() const { return core_.icm.mapped_pages(); }
  // The use of all queues that have ended since power-on.  A reset ends all
  // others.
  const mlx4::QueueUses& ended_queues() const { return core_.ended; }

 private:
  bool Read(uint64_t address, std::span<std::byte> into) override;
  bool Write(uint64_t address, std::span<const std::byte> from) override {
    return WriteMemory(address, from);
  }

  uint64_t ReadRegister(int bar, size_t offset, size_t size) override;
  void WriteRegister(int bar, size_t offset, size_t size,
                     uint64_t value) override;
  void ResetRegisters() override;

  uint32_t ReadControl(size_t offset);
  void WriteControl(size_t offset, uint32_t value);
  void WriteUar(size_t offset, size_t size, uint64_t value);
  void Run(const mlx4::Hcr::Posted& posted);
  void KeepInbox();
  void SoftwareReset();
  bool resetting() const { return timers_.Now() < reset_until_; }
  bool failed() const { return error_buffer_[0] != 0; }

  Timers& timers_;
  FaultPlan faults_;
  ObserverList<CommandObserver> observers_;

  mlx4::Hcr hcr_;
  mlx4::Core core_;
  mlx4::EventQueues events_;
  mlx4::CompletionQueues completions_;
  mlx4::MemoryTable memory_;
  mlx4::ModelMcgTable multicast_;
  mlx4::SharedReceiveQueues shared_;
  mlx4::QueuePairs queue_pairs_;
  mlx4::Ports ports_;
  mlx4::Firmware firmware_;

  bool owned_ = false;        // the owner semaphore
  bool reset_taken_ = false;  // the semaphore of the reset register
  absl::Time reset_until_ = absl::InfinitePast();
  std::array<uint32_t, mlx4::kErrorBufferWords> error_buffer_{};
  uint32_t half_doorbell_ = 0;  // first write of a CQ doorbell in two
  int refusals_ = 0;
  // Used only while an observed command is carried out: the place of its
  // mailbox until that was read, and then the contents.
  std::optional<uint64_t> inbox_place_;
  std::vector<std::byte> inbox_;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_CONNECTX3_MODEL_H_
