// Receive requests whose memory the adapter has.
#ifndef IBEMU_HCA_MLX4_POSTED_RECEIVE_H_
#define IBEMU_HCA_MLX4_POSTED_RECEIVE_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "hca/mlx4/dma_pool.h"
#include "hca/mlx4/work_queues.h"
#include "verbs/key_table.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

struct PostedReceive {
  verbs::ReceiveRequest request;
  std::unique_ptr<DmaPool::Buffer> memory;  // null: there is nothing to take
  WqePointer pointer;
};

// `request` is taken on success only.  What is wrong with its keys the adapter
// itself finds when a message comes, for it is told of memory that is
// nobody's; and of room beyond `most` bytes it is not told at all.  `lkey`: of
// the driver's memory.
//
// Errors: DmaPool::Take()'s.
absl::StatusOr<PostedReceive> MakeReceive(verbs::ReceiveRequest& request,
                                          const verbs::KeyTable& keys,
                                          const verbs::Pd* pd, DmaPool& pool,
                                          size_t most, uint32_t lkey);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_POSTED_RECEIVE_H_
