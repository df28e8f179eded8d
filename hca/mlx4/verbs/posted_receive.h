// Receive requests whose memory the adapter has.
#ifndef IBEMU_HCA_MLX4_VERBS_POSTED_RECEIVE_H_
#define IBEMU_HCA_MLX4_VERBS_POSTED_RECEIVE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "hca/mlx4/verbs/dma_pool.h"
#include "hca/mlx4/verbs/work_queues.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

class VerbsProvider;

struct PostedReceive {
  verbs::ReceiveRequest request;
  std::unique_ptr<DmaPool::Buffer> memory;  // null: there is nothing to take
  WqePointer pointer;
  uint32_t status = 0;  // wc_status of what the driver makes fail
};

// `request` is taken on success only.  What is wrong with its keys the adapter
// itself finds when a message comes, for it is told of memory that is
// nobody's; and of room beyond `most` bytes it is not told at all.  When there
// is no memory and none will come back, the request fails in the same way.
//
// None: `share` will have memory when some has been returned.
std::optional<PostedReceive> MakeReceive(
    verbs::ReceiveRequest& request, VerbsProvider& provider,
    const std::shared_ptr<DmaPool::Share>& share, const verbs::Pd* pd,
    size_t most);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_POSTED_RECEIVE_H_
