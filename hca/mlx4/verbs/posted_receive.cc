#include "hca/mlx4/verbs/posted_receive.h"

#include <algorithm>
#include <utility>

#include "hca/mlx4/verbs/verbs_provider.h"
#include "hca/prm/mlx4_wqe.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/wc_status.h"

namespace ibemu::hca::mlx4 {

std::optional<PostedReceive> MakeReceive(
    verbs::ReceiveRequest& request, VerbsProvider& provider,
    const std::shared_ptr<DmaPool::Share>& share, const verbs::Pd* pd,
    size_t most) {
  PostedReceive receive;
  const auto fail = [&] {
    receive.pointer = {.iova = 0, .size = 1, .lkey = prm::kInvalidLKey};
    for (const ib_uverbs_sge& sge : request.sges) {
      receive.pointer.size = std::max(receive.pointer.size, sge.length);
    }
  };
  const auto ranges =
      provider.keys().FindAll(request.sges, pd, verbs::access::kLocalWrite);
  if (!ranges.ok()) {
    fail();
  } else if (const size_t room = std::min(verbs::LengthOf(*ranges), most);
             room != 0) {
    DmaPool& pool = provider.receive_memory();
    auto memory = pool.Take(share, room);
    if (memory.ok()) {
      receive.memory = *std::move(memory);
      receive.pointer = {.iova = receive.memory->iova(),
                         .size = static_cast<uint32_t>(room),
                         .lkey = provider.lkey()};
    } else if (pool.in_use() != 0) {
      return std::nullopt;
    } else {
      provider.OnShortage(memory.status());
      receive.status = verbs::wc_status::kLocalQpOperation;
      fail();
    }
  }
  receive.request = std::move(request);
  return receive;
}

}  // namespace ibemu::hca::mlx4
