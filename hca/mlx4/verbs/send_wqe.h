// Send requests of queue pairs whose headers the adapter makes.
#ifndef IBEMU_HCA_MLX4_VERBS_SEND_WQE_H_
#define IBEMU_HCA_MLX4_VERBS_SEND_WQE_H_

#include <cstddef>
#include <vector>

#include "hca/mlx4/verbs/work_queues.h"
#include "hca/prm/mlx4_wqe.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// Bytes of the longest, as a power of two.
constexpr int LogStrideOf(verbs::QpType type) {
  return type == verbs::QpType::kUd ? 7 : 6;
}

// Whether queue pairs of `type` send such requests here.
bool IsOffered(verbs::QpType type, const ib_uverbs_send_wr& work);

inline bool IsAtomic(const ib_uverbs_send_wr& work) {
  return work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
         work.opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
}
// It brings something back.
inline bool Fetches(const ib_uverbs_send_wr& work) {
  return work.opcode == IB_UVERBS_WR_RDMA_READ || IsAtomic(work);
}

// `to`: of a datagram, else null.  `data` may have no bytes.  It makes a CQE
// whatever `work` says: with that the driver's memory is free again.
std::vector<std::byte> MakeSendWqe(const ib_uverbs_send_wr& work,
                                   const prm::AddressVector* to,
                                   const WqePointer& data);

// One that fails before anything of it is sent, because its memory is nobody's:
// so the adapter itself ends what the driver knows to be wrong, in turn.
std::vector<std::byte> MakeFailingWqe(const prm::AddressVector* to);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_SEND_WQE_H_
