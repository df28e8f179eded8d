// VerbsProvider: the verbs of an mlx4 adapter.
#ifndef IBEMU_HCA_MLX4_VERBS_VERBS_PROVIDER_H_
#define IBEMU_HCA_MLX4_VERBS_VERBS_PROVIDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "hca/driver/driven_adapter.h"
#include "hca/mlx4/core/resources.h"
#include "hca/mlx4/verbs/dma_pool.h"
#include "hca/mlx4/verbs/mcg_table.h"
#include "hca/prm/mlx4_events.h"
#include "mad/port.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/parts/key_table.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

class Mlx4QueuePair;
class Mlx4Srq;

// A protection domain with its process, because each process has its own share
// of the memory for messages.
struct Mlx4Pd : verbs::Pd {
  explicit Mlx4Pd(uint64_t owner) : process(owner) {}
  const uint64_t process;
};

// The parts of the device that its verbs are made of.
struct VerbsParts {
  Resources& resources;
  std::vector<mad::Port*> ports;  // port 1 comes first
  uint64_t node_guid = 0;
  uint64_t system_image_guid = 0;
  uint32_t revision = 0;
  uint32_t lkey = 0;  // of the region of all memory
  uint32_t eqn = 0;   // EQ of completion events
};

// The verbs of one adapter.  Objects may outlive the device: they keep the
// provider alive, which has no adapter then.
class VerbsProvider final : public verbs::Provider,
                            public std::enable_shared_from_this<VerbsProvider> {
 public:
  // All that `parts` refers to must live until End().
  explicit VerbsProvider(VerbsParts parts);
  ~VerbsProvider() override;
  VerbsProvider(const VerbsProvider&) = delete;
  VerbsProvider& operator=(const VerbsProvider&) = delete;

  verbs::DeviceAttributes QueryDevice() const override { return device_; }
  absl::StatusOr<verbs::PortAttributes> QueryPort(int port) const override;
  absl::StatusOr<std::unique_ptr<verbs::Pd>> CreatePd(
      uint64_t process) override;
  absl::StatusOr<std::unique_ptr<verbs::Mr>> CreateMr(
      const verbs::MrInit& init) override;
  absl::StatusOr<std::unique_ptr<verbs::Ah>> CreateAh(
      verbs::Pd& pd, const verbs::AddressAttributes& attributes) override;
  absl::StatusOr<std::unique_ptr<verbs::Cq>> CreateCq(
      uint32_t size, verbs::CqListener& listener) override;
  absl::StatusOr<std::unique_ptr<verbs::Srq>> CreateSrq(
      verbs::Pd& pd, const verbs::SrqAttributes& attributes,
      verbs::ObjectListener& listener) override;
  absl::StatusOr<std::unique_ptr<verbs::Qp>> CreateQp(
      const verbs::QpInit& init, verbs::ObjectListener& listener) override;
  void AddListener(verbs::AsyncEventListener& listener) override;
  void RemoveListener(verbs::AsyncEventListener& listener) override;

  // Returns what programs have of the device.  REQUIRES: End() was not called.
  VerbsUse Use() const;

  // Called when the state, LID or a table of `port` may have changed.
  void OnPortChange(int port);
  void OnClientReregister(int port);

  // Handles an event of a completion queue, queue pair or shared receive queue;
  // other events are ignored.
  void OnEvent(const prm::Eqe& event);
  // Handles the completions that no event has told of.
  void PollCompletions();

  // Called when the adapter has died: tells the users.
  void OnRemoved();
  // Called when the device goes: from now on the provider has no adapter.
  void End();

  // The following are for queue pairs.  Those that belong to the adapter are
  // valid until OnGone() of the queue pair has returned.
  Resources& resources() { return parts_.resources; }
  uint32_t lkey() const { return parts_.lkey; }
  uint32_t eqn() const { return parts_.eqn; }
  DmaPool& send_memory() { return *send_memory_; }
  DmaPool& receive_memory() { return *receive_memory_; }
  const verbs::KeyTable& keys() const { return keys_; }
  verbs::BounceBuffers& bounces() { return bounces_; }
  // Called when there is no memory for a message, and none that could be
  // returned, so that its request fails.  The adapter's owner is told once.
  void OnShortage(const absl::Status& why);
  int gids() const;  // entries of a port's table
  uint32_t MtuCodeOf(int port) const;
  absl::Status AttachMulticast(const verbs::GidBytes& gid, uint32_t qpn);
  void DetachMulticast(const verbs::GidBytes& gid, uint32_t qpn);
  void Add(Mlx4QueuePair& qp);
  void Forget(Mlx4QueuePair& qp);
  void Add(Mlx4Srq& srq);
  void Forget(Mlx4Srq& srq);

 private:
  // The attributes of a port whose changes programs are told of.
  struct PortLook {
    bool active = false;
    wire::Lid lid{}, sm_lid{};
    std::vector<uint16_t> p_keys;
    std::vector<wire::Gid> gids;
  };
  PortLook LookAt(const mad::Port& port) const;
  void Tell(verbs::AsyncEventType type, int port);
  absl::Status CheckAlive() const;

  const VerbsParts parts_;
  const verbs::DeviceAttributes device_;
  bool alive_ = true;
  // The latest attributes, which can still be queried after the adapter is
  // gone.
  std::vector<verbs::PortAttributes> port_attributes_;
  std::vector<PortLook> looks_;
  verbs::KeyTable keys_;
  verbs::BounceBuffers bounces_;
  // Two pools, so that sends, whose memory always comes back by itself, never
  // wait for receives.
  std::optional<DmaPool> send_memory_, receive_memory_;
  bool told_shortage_ = false;
  McgTable groups_;
  uint32_t pds_ = 0, ahs_ = 0, mrs_ = 0, cqs_ = 0;
  absl::flat_hash_map<uint32_t, Mlx4QueuePair*> qps_, qps_by_cqn_;
  absl::flat_hash_map<uint32_t, Mlx4Srq*> srqs_;
  ObserverList<verbs::AsyncEventListener> listeners_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_VERBS_PROVIDER_H_
