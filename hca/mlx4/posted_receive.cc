#include "hca/mlx4/posted_receive.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "hca/prm/mlx4_wqe.h"
#include "verbs/memory_transfer.h"

namespace ibemu::hca::mlx4 {

absl::StatusOr<PostedReceive> MakeReceive(verbs::ReceiveRequest& request,
                                          const verbs::KeyTable& keys,
                                          const verbs::Pd* pd, DmaPool& pool,
                                          size_t most, uint32_t lkey) {
  PostedReceive receive;
  const auto ranges =
      keys.FindAll(request.pieces, pd, verbs::access::kLocalWrite);
  if (!ranges.ok()) {
    receive.pointer = {.iova = 0, .size = 1, .lkey = prm::kInvalidLKey};
    for (const ib_uverbs_sge& piece : request.pieces) {
      receive.pointer.size = std::max(receive.pointer.size, piece.length);
    }
  } else if (const size_t room = std::min(verbs::LengthOf(*ranges), most);
             room != 0) {
    IBEMU_ASSIGN_OR_RETURN(receive.memory, pool.Take(room));
    receive.pointer = {.iova = receive.memory->iova(),
                       .size = static_cast<uint32_t>(room),
                       .lkey = lkey};
  }
  receive.request = std::move(request);
  return receive;
}

}  // namespace ibemu::hca::mlx4
