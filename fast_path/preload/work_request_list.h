// WorkRequestList: the body of a command that posts work requests.
#ifndef IBEMU_FAST_PATH_PRELOAD_WORK_REQUEST_LIST_H_
#define IBEMU_FAST_PATH_PRELOAD_WORK_REQUEST_LIST_H_

#include <rdma/ib_user_verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ibemu::fast_path {

// A WorkRequestList is what a POST_SEND (Work: ib_uverbs_send_wr) or a
// POST_RECV (ib_uverbs_recv_wr) has: requests of one size, and then the SGEs of
// all of them.  It reads from the command's bytes, which have to stay.
template <class Work>
class WorkRequestList {
 public:
  // `command`: with its header, and all of an ib_uverbs_post_recv, which sends
  // begin with, too.
  WorkRequestList(const std::byte* command, size_t size)
      : list_(command + sizeof(ib_uverbs_cmd_hdr)) {
    ib_uverbs_post_recv header;
    std::memcpy(&header, list_, sizeof header);
    queue_ = header.qp_handle;
    count_ = header.wr_count;
    size_ = header.wqe_size;
    const uint64_t requests = uint64_t{header.wr_count} * header.wqe_size;
    const uint64_t sges = uint64_t{header.sge_count} * sizeof(ib_uverbs_sge);
    const uint64_t room = size - sizeof(ib_uverbs_cmd_hdr) - kHeader;
    is_whole_ = header.wqe_size >= sizeof(Work) && requests <= room &&
                sges <= room - requests;
    if (!is_whole_) return;
    sges_ = list_ + kHeader + requests;
    sges_left_ = header.sge_count;
  }

  // Returns false if the command is shorter than its header says.
  bool is_whole() const { return is_whole_; }
  uint32_t queue() const { return queue_; }
  uint32_t count() const { return count_; }

  // Returns a request.  REQUIRES: is_whole() and index < count().
  Work At(uint32_t index) const {
    Work work;
    std::memcpy(&work, list_ + kHeader + size_t{index} * size_, sizeof work);
    return work;
  }

  // Returns false if there are not so many SGEs more.
  bool HasSges(uint32_t count) const { return count <= sges_left_; }
  // Returns the next SGE.  REQUIRES: HasSges(1).
  ib_uverbs_sge TakeSge() {
    ib_uverbs_sge sge;
    std::memcpy(&sge, sges_, sizeof sge);
    sges_ += sizeof sge;
    --sges_left_;
    return sge;
  }

 private:
  static constexpr size_t kHeader = offsetof(ib_uverbs_post_recv, recv_wr);

  const std::byte* const list_;
  uint32_t queue_, count_, size_;
  bool is_whole_ = false;
  const std::byte* sges_ = nullptr;
  uint32_t sges_left_ = 0;
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_WORK_REQUEST_LIST_H_
