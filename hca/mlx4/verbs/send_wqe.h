// Send WQEs of queue pairs whose packet headers the adapter builds.
#ifndef IBEMU_HCA_MLX4_VERBS_SEND_WQE_H_
#define IBEMU_HCA_MLX4_VERBS_SEND_WQE_H_

#include <cstddef>
#include <vector>

#include "hca/mlx4/verbs/work_queues.h"
#include "hca/prm/mlx4_wqe.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// Returns the log of the longest WQE's size in bytes.
constexpr int LogStrideOf(verbs::QpType type) {
  return type == verbs::QpType::kUd ? 7 : 6;
}

inline bool IsAtomic(const ib_uverbs_send_wr& work) {
  return work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
         work.opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
}
// Returns whether the request returns data: an RDMA READ or an atomic
// operation.
inline bool Fetches(const ib_uverbs_send_wr& work) {
  return work.opcode == IB_UVERBS_WR_RDMA_READ || IsAtomic(work);
}

// Returns the WQE of a request.  `to`: the address of a datagram, else null.
// `data` may have no bytes.  The WQE makes a CQE whatever `work` says, because
// that is when the driver's memory is free again.
std::vector<std::byte> MakeSendWqe(const ib_uverbs_send_wr& work,
                                   const prm::Mlx4Av* to,
                                   const WqePointer& data);

// Returns a WQE that fails before anything of it is sent, because its key is
// invalid.  By it, the adapter itself ends a request that the driver knows to
// be wrong, in the right order.
std::vector<std::byte> MakeFailingWqe(const prm::Mlx4Av* to);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_SEND_WQE_H_
