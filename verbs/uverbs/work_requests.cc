#include "verbs/uverbs/work_requests.h"

#include <cstddef>

namespace ibemu::verbs {
namespace {

// The three parts of a list: a header, requests of one size, SGEs.
class List {
 public:
  // `least` is the smallest size of a request.  Sends and receives have the
  // same header.
  static absl::StatusOr<List> Of(Bytes request, size_t least) {
    const auto header = ReadAs<ib_uverbs_post_recv>(request);
    const Bytes rest = request.subspan(offsetof(ib_uverbs_post_recv, recv_wr));
    const uint64_t requests = uint64_t{header.wr_count} * header.wqe_size;
    const uint64_t sges = uint64_t{header.sge_count} * sizeof(ib_uverbs_sge);
    if (header.wqe_size < least || requests > rest.size() ||
        sges > rest.size() - requests) {
      return absl::InvalidArgumentError("the list is shorter than it says");
    }
    List list;
    list.count_ = header.wr_count;
    list.size_ = header.wqe_size;
    list.requests_ = rest.first(requests);
    list.sges_ = rest.subspan(requests, sges);
    return list;
  }

  size_t count() const { return count_; }
  template <class T>
  T At(size_t index) const {
    return ReadAs<T>(requests_.subspan(index * size_));
  }

  // Removes and returns the next `count` SGEs.
  absl::StatusOr<std::vector<ib_uverbs_sge>> TakeSges(uint32_t count) {
    if (count > sges_.size() / sizeof(ib_uverbs_sge)) {
      return absl::InvalidArgumentError("more sges than it says");
    }
    std::vector<ib_uverbs_sge> taken(count);
    for (ib_uverbs_sge& sge : taken) {
      sge = ReadAs<ib_uverbs_sge>(sges_);
      sges_ = sges_.subspan(sizeof sge);
    }
    return taken;
  }

 private:
  size_t count_ = 0, size_ = 0;
  Bytes requests_, sges_;
};

}  // namespace

absl::StatusOr<std::vector<SendRequest>> DecodeSends(Bytes request) {
  absl::StatusOr<List> list = List::Of(request, sizeof(ib_uverbs_send_wr));
  if (!list.ok()) return list.status();
  std::vector<SendRequest> sends;
  sends.reserve(list->count());
  for (size_t i = 0; i < list->count(); ++i) {
    SendRequest& send = sends.emplace_back();
    send.work = list->At<ib_uverbs_send_wr>(i);
    auto sges = list->TakeSges(send.work.num_sge);
    if (!sges.ok()) return sges.status();
    send.sges = *std::move(sges);
  }
  return sends;
}

absl::StatusOr<std::vector<ReceiveRequest>> DecodeReceives(Bytes request) {
  absl::StatusOr<List> list = List::Of(request, sizeof(ib_uverbs_recv_wr));
  if (!list.ok()) return list.status();
  std::vector<ReceiveRequest> receives;
  receives.reserve(list->count());
  for (size_t i = 0; i < list->count(); ++i) {
    const auto work = list->At<ib_uverbs_recv_wr>(i);
    auto sges = list->TakeSges(work.num_sge);
    if (!sges.ok()) return sges.status();
    receives.push_back({work.wr_id, *std::move(sges)});
  }
  return receives;
}

}  // namespace ibemu::verbs
