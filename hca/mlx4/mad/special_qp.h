// SpecialQp: queue pair 0 or 1 of a port.
#ifndef IBEMU_HCA_MLX4_MAD_SPECIAL_QP_H_
#define IBEMU_HCA_MLX4_MAD_SPECIAL_QP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/driver/driven_adapter.h"
#include "hca/mlx4/core/mlx4_cq.h"
#include "hca/mlx4/core/resources.h"
#include "hca/mlx4/mad/mlx_wqe.h"
#include "hca/prm/mlx4_qp.h"
#include "mad/address.h"

namespace ibemu::hca::mlx4 {

// A SpecialQpInit says which queue pair a SpecialQp is, and which CQ and memory
// key of the adapter it uses.
struct SpecialQpInit {
  int port = 1;
  int qp = 0;           // 0 or 1
  uint32_t number = 0;  // in CONF_SPECIAL_QP's range; on the wire 0 or 1
  uint32_t cqn = 0;
  uint32_t lkey = 0;  // of the region of all memory
};

// A queue pair that sends and receives MADs.
class SpecialQp {
 public:
  static constexpr int kLogSends = 6;
  // Log of the number of receive WQEs, as many as Linux has; a MAD that comes
  // while none is posted is lost.
  static constexpr int kLogReceives = 9;
  // The number of invalid WQEs that are kept behind the last one, because the
  // adapter reads ahead (hw/mlx4/qp.c, sq_spare_wqes).
  static constexpr uint32_t kSpareSends = 2048 / kMlxWqe + 1;
  static constexpr uint32_t kSendsInFlight = (1u << kLogSends) - kSpareSends;
  // The largest number of MADs that wait for room; what comes then is lost.
  static constexpr size_t kBacklog = 4096;

  // Called with a MAD that arrived.  The bytes are the 40 of a GRH, which are
  // valid if the entry says so, and the MAD.
  using OnMad =
      std::function<void(const prm::Cqe&, std::span<const std::byte>)>;

  // Creates the queue pair and brings it to RTS.  `between` is called between
  // INIT2RTR and RTR2RTS (INIT_PORT belongs there for queue pair 0).
  // `resources` must outlive it.
  //
  // Errors: those of memory, commands and `between`.
  static absl::StatusOr<std::unique_ptr<SpecialQp>> Create(
      Resources& resources, const SpecialQpInit& init,
      const std::function<absl::Status()>& between, OnMad on_mad);
  ~SpecialQp();
  SpecialQp(const SpecialQp&) = delete;
  SpecialQp& operator=(const SpecialQp&) = delete;

  uint32_t number() const { return init_.number; }
  const MadTotals& totals() const { return totals_; }

  // Sends a MAD.  `source.psn` is set here.
  void Send(const mad::AddressVector& to, MlxSource source,
            const mad::MadBytes& mad);

  // Handles a completion of this queue pair.  A packet that the adapter can't
  // send is lost, as it may be anywhere; those that wait behind it are sent.
  // The adapter is cut off if nothing more can be sent, or received.
  void OnCompletion(const Completion& completion);

 private:
  // A MAD to be sent.
  struct Waiting {
    mad::AddressVector to;
    MlxSource source;
    mad::MadBytes mad;
  };

  SpecialQp(Resources& resources, const SpecialQpInit& init, OnMad on_mad)
      : resources_(resources), init_(init), on_mad_(std::move(on_mad)) {}

  absl::Status Allocate();
  absl::Status Start(const std::function<absl::Status()>& between);
  absl::Status Step(prm::Opcode opcode, prm::QpContextState next);
  prm::QpContext Context() const;
  void Post(const Waiting& send);
  void PostWaiting();
  void OnSent(const std::optional<prm::ErrorCqe>& error);
  void Recover(prm::CqeSyndrome syndrome);
  void Stamp(uint32_t index);
  void PostReceive();
  std::span<std::byte> ReceiveBuffer(uint32_t index);

  Resources& resources_;
  const SpecialQpInit init_;
  const OnMad on_mad_;
  std::unique_ptr<QueueMemory> queue_;
  std::unique_ptr<DmaMemory> doorbell_record_;
  std::unique_ptr<DmaMemory> sends_;
  std::unique_ptr<DmaMemory> receives_;
  bool started_ = false;
  // Running counts.
  uint32_t posted_ = 0, receives_posted_ = 0;
  uint32_t psn_ = 0;
  MadTotals totals_;
  std::deque<Waiting> flying_;  // posted, and not yet complete
  size_t flushed_ = 0;          // number of them that may come back unsent
  std::deque<Waiting> backlog_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_MAD_SPECIAL_QP_H_
