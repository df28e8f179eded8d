// Mlx4Srq: a shared receive queue of an mlx4 adapter.
#ifndef IBEMU_HCA_MLX4_VERBS_MLX4_SRQ_H_
#define IBEMU_HCA_MLX4_VERBS_MLX4_SRQ_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "hca/mlx4/core/resources.h"
#include "hca/mlx4/verbs/posted_receive.h"
#include "verbs/parts/receive_queue.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

class VerbsProvider;

// A shared receive queue.  To the adapter it is a linked list: each WQE names
// the next one, and the last names the slot where the next will be.
class Mlx4Srq final : public verbs::Srq {
 public:
  // Errors: those of memory, numbers and commands.
  static absl::StatusOr<std::unique_ptr<Mlx4Srq>> Create(
      std::shared_ptr<VerbsProvider> provider, const verbs::Pd& pd,
      const verbs::SrqAttributes& attributes, verbs::ObjectListener& listener);
  ~Mlx4Srq() override;
  Mlx4Srq(const Mlx4Srq&) = delete;
  Mlx4Srq& operator=(const Mlx4Srq&) = delete;

  verbs::SrqAttributes Query() const override;
  size_t posted() const override { return used_ + pending_.size(); }
  // Errors: always Unimplemented.
  absl::Status Resize(uint32_t max_requests) override;
  absl::Status SetLimit(uint32_t limit) override;
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override;

  // The following are for queue pairs.
  uint32_t number() const { return number_; }
  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  const verbs::Pd* pd() const { return &pd_; }
  // Takes the request of a slot whose WQE the adapter has used; none if the
  // adapter can't have used it.
  std::optional<PostedReceive> Take(uint32_t slot);
  // Count the messages that are on their way to the client's memory.  There is
  // room for another request only when a message is where the client wants it.
  void AddArriving(size_t count) { arriving_ += count; }
  void EndArriving(size_t count) { arriving_ -= count; }

  void OnEvent(verbs::AsyncEventType type);
  // Called when the adapter is gone, or about to go.  Takes the queue from an
  // adapter that is not cut off.
  void OnGone();

 private:
  Mlx4Srq(std::shared_ptr<VerbsProvider> provider, const verbs::Pd& pd,
          const verbs::SrqAttributes& attributes,
          verbs::ObjectListener& listener);

  absl::Status Start(uint32_t limit);
  void Pump();
  std::byte* PlaceOf(uint32_t slot);
  void Link(uint32_t slot, uint32_t next);

  const std::shared_ptr<VerbsProvider> provider_;
  const verbs::Pd& pd_;
  const uint32_t max_requests_;
  verbs::ObjectListener& listener_;
  uint32_t limit_ = 0;
  uint32_t number_ = 0;
  bool has_number_ = false, running_ = false;
  std::unique_ptr<QueueMemory> memory_;
  std::unique_ptr<DmaMemory> record_;
  std::shared_ptr<DmaPool::Share> share_;

  verbs::ReceiveQueue pending_;  // not yet given to the adapter
  struct Slot {
    bool posted = false;
    PostedReceive receive;
  };
  std::vector<Slot> slots_;
  uint32_t first_free_ = 0, last_free_ = 0;
  std::vector<uint32_t> next_;  // slot after each one, as in its WQE
  size_t used_ = 0;             // slots
  size_t arriving_ = 0;         // messages
  uint32_t posted_ = 0;         // running count
  bool waits_ = false;          // waits for memory
  // Null once the queue has ended: deferred calls look here first.
  std::shared_ptr<Mlx4Srq*> self_ = std::make_shared<Mlx4Srq*>(this);
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_MLX4_SRQ_H_
