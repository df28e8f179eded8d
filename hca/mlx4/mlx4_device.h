// Mlx4Device: an mlx4 adapter as ibemu's front ends show it.
#ifndef IBEMU_HCA_MLX4_MLX4_DEVICE_H_
#define IBEMU_HCA_MLX4_MLX4_DEVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/pci_function.h"
#include "hca/driver/driven_adapter.h"
#include "hca/mlx4/core/mlx4_adapter.h"
#include "hca/mlx4/core/mlx4_cq.h"
#include "hca/mlx4/core/mlx4_eq.h"
#include "hca/mlx4/core/resources.h"
#include "hca/mlx4/mad/mad_ifc.h"
#include "hca/mlx4/mad/mlx4_port.h"
#include "hca/mlx4/mad/special_qp.h"
#include "hca/mlx4/verbs/verbs_provider.h"

namespace ibemu::hca::mlx4 {

// An Mlx4Device owns the driver's parts of one adapter: its event queue, the
// completion queue of MADs, its ports and its verbs.  It polls the queues after
// each interrupt, or by a timer if there are none, and watches the firmware's
// health.  Everything runs on the loop thread.
class Mlx4Device : public DrivenAdapter {
 public:
  // The interval at which the queues are polled if there are no interrupts.
  static constexpr absl::Duration kPollPeriod = absl::Milliseconds(1);
  // The largest number of MADs that are handled before the event loop has its
  // turn: each may need a firmware command, which takes a millisecond, and
  // peers may send without end.
  static constexpr int kMaxCompletions = 64;

  // Takes the adapter over and brings it and its ports up, which takes some
  // seconds.  Both references must outlive it.
  //
  // Errors: those of Mlx4Adapter::Start(), commands and memory.
  static absl::StatusOr<std::unique_ptr<Mlx4Device>> Start(
      PciFunction& function, Timers& timers, DeviceOptions options);
  // Brings the adapter down and releases it.
  ~Mlx4Device() override;
  Mlx4Device(const Mlx4Device&) = delete;
  Mlx4Device& operator=(const Mlx4Device&) = delete;

  int interrupt_fd() const override { return interrupt_fd_; }
  void OnInterrupt() override;

  mad::NodeType type() const override { return mad::NodeType::kChannelAdapter; }
  wire::Guid node_guid() const override { return node_guid_; }
  wire::Guid system_image_guid() const override { return system_image_guid_; }
  const mad::DeviceLabel* label() const override { return &label_; }
  const std::string& product() const override { return product_; }
  std::string node_description() const override { return description_; }
  // Sets what the ports' agents answer from now on.  The firmware is not told,
  // and sends no trap 144.
  void SetNodeDescription(std::string_view text) override;
  int first_port() const override { return 1; }
  int last_port() const override { return static_cast<int>(ports_.size()); }
  mad::Port& port(int number) override {
    return *ports_[static_cast<size_t>(number - 1)];
  }
  void SetListener(mad::DeviceListener* listener) override {
    listener_ = listener;
  }

  const absl::Status& dead() const override { return adapter_->dead(); }
  void SetWatcher(DeviceWatcher* watcher) override { watcher_ = watcher; }
  verbs::Provider& provider() override { return *verbs_; }

  std::map<std::string, CommandTotals> commands() const override;
  std::map<std::string, uint64_t> events() const override;
  const MadTotals& mads(int port, int qp) const override {
    return ports_[static_cast<size_t>(port - 1)]->mads(qp);
  }
  VerbsUse verbs_use() const override { return verbs_->Use(); }

 private:
  explicit Mlx4Device(std::unique_ptr<Mlx4Adapter> adapter);

  absl::Status StartQueues();
  absl::Status ReadIdentity();
  absl::Status StartPorts();
  absl::Status RegisterAllMemory();
  void StartVerbs();
  void PollEvents();
  void PollQueues();
  void PollCompletions();
  void OnEvent(const prm::Eqe& event);
  bool IsFatal(const prm::Eqe& event) const;
  void WatchHealth();
  void WatchQueues();
  void TellChange(int port);
  void Die(const absl::Status& why);
  void DieSoon(const absl::Status& why);

  const std::unique_ptr<Mlx4Adapter> adapter_;
  Timers& timers_;
  MadIfc mads_;
  Resources resources_;
  mad::DeviceLabel label_;
  std::string product_;
  wire::Guid node_guid_{}, system_image_guid_{};
  std::string description_;
  std::unique_ptr<Mlx4Eq> events_;
  std::map<prm::EqeType, uint64_t> event_totals_;
  std::unique_ptr<Mlx4Cq> completions_;
  uint32_t mpt_ = 0;
  bool has_mpt_ = false;
  uint32_t first_qpn_ = 0;
  bool has_qps_ = false;
  std::vector<std::unique_ptr<Mlx4Port>> ports_;
  std::shared_ptr<VerbsProvider> verbs_;
  int interrupt_fd_ = -1;
  TimerId health_timer_ = TimerId::kNone;
  TimerId poll_timer_ = TimerId::kNone;
  bool removed_ = false;
  mad::DeviceListener* listener_ = nullptr;
  DeviceWatcher* watcher_ = nullptr;
  // Expires with this object: deferred calls hold weak references to it.
  std::shared_ptr<Mlx4Device*> self_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_MLX4_DEVICE_H_
