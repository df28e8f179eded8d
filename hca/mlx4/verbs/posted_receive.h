// PostedReceive: a receive request whose memory the adapter has.
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

// A PostedReceive is a client's request with a buffer of the driver's, into
// which the adapter writes the message; from there it is copied to the client.
struct PostedReceive {
  verbs::ReceiveRequest request;
  std::unique_ptr<DmaPool::Buffer> memory;  // null if it can receive no bytes
  WqePointer pointer;
  uint32_t status = 0;  // wc_status, if the driver makes it fail
};

// Makes a receive request ready for the adapter.  `request` is taken on success
// only.  If its keys are wrong, the adapter is given an invalid key, and so
// fails the request itself when a message comes.  Room beyond `most` bytes is
// not passed on to the adapter.  If there is no memory and none that could be
// returned, the request fails in the same way.
//
// Returns none if there is no memory in `share` now, but there will be when
// some has been returned.
std::optional<PostedReceive> MakeReceive(
    verbs::ReceiveRequest& request, VerbsProvider& provider,
    const std::shared_ptr<DmaPool::Share>& share, const verbs::Pd* pd,
    size_t most);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_POSTED_RECEIVE_H_
