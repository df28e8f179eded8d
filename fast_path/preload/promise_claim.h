// PromiseClaim: the share of a queue pair's promise that one post takes up.
#ifndef IBEMU_FAST_PATH_PRELOAD_PROMISE_CLAIM_H_
#define IBEMU_FAST_PATH_PRELOAD_PROMISE_CLAIM_H_

#include <rdma/ib_user_verbs.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "fast_path/preload/work_request_list.h"
#include "fast_path/rings/uverbs_ring_memory.h"
#include "verbs/offered_sends.h"
#include "verbs/wc_status.h"

namespace ibemu::fast_path {

// A PromiseClaim is a part of what the daemon has promised to take for a queue
// pair.  Who has one need not wait for the answer to a post: it is known.
class PromiseClaim {
 public:
  // Takes up the promise for all requests of a list.  Returns false, and takes
  // up nothing, if fewer are promised or if one of them may be refused.
  template <class Work>
  bool Claim(UverbsRingMemory& memory, const WorkRequestList<Work>& list) {
    QueuePairPromise& promise = memory.PromiseOf(list.queue());
    const uint64_t name = promise.queue_pair.load();
    if (static_cast<uint32_t>(name) != list.queue() + 1 || name == 0 ||
        !AreFit(promise, list)) {
      return false;
    }
    constexpr bool kSends = std::is_same_v<Work, ib_uverbs_send_wr>;
    posted_ = kSends ? &promise.sends : &promise.receives;
    count_ = list.count();
    const uint32_t posted = posted_->fetch_add(count_) + count_;
    const uint32_t until =
        kSends ? promise.SendsUntil(name) : promise.receives_until.load();
    // Another one may have got this place meanwhile.
    if (static_cast<int32_t>(posted - until) <= 0 &&
        promise.queue_pair.load() == name) {
      return true;
    }
    GiveBack();
    return false;
  }

  // Nothing was posted.
  void GiveBack() { posted_->fetch_sub(count_); }

 private:
  template <class Work>
  static bool AreFit(const QueuePairPromise& promise,
                     WorkRequestList<Work> list) {
    if (!list.is_whole() || list.count() == 0) return false;
    for (uint32_t i = 0; i < list.count(); ++i) {
      const Work work = list.At(i);
      if (!list.HasSges(work.num_sge)) return false;
      uint64_t length = 0;
      for (uint32_t j = 0; j < work.num_sge; ++j) {
        length += list.TakeSge().length;
      }
      if (!IsFit(promise, work, length)) return false;
    }
    return true;
  }
  static bool IsFit(const QueuePairPromise& promise,
                    const ib_uverbs_send_wr& send, uint64_t length) {
    const auto type = static_cast<verbs::QpType>(promise.type.load());
    const bool is_inline = (send.send_flags & verbs::send_flag::kInline) != 0;
    return send.num_sge <= promise.send_sges.load() &&
           verbs::IsOffered(type, send) &&
           (!is_inline || length <= promise.inline_bytes.load());
  }
  static bool IsFit(const QueuePairPromise& promise,
                    const ib_uverbs_recv_wr& receive, uint64_t /*length*/) {
    return receive.num_sge <= promise.receive_sges.load();
  }

  std::atomic<uint32_t>* posted_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_PROMISE_CLAIM_H_
