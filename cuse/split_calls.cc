#include "cuse/split_calls.h"

#include <algorithm>
#include <utility>

#include "base/large_buffer.h"

namespace ibemu::cuse {

SplitWrites::Verdict SplitWrites::Add(pid_t tid, uint64_t offset,
                                      mad::Bytes data, size_t piece,
                                      size_t head_size) {
  if (offset == 0) {
    data_ = {};
    tid_ = tid;
    head_size_ = head_size;
    total_.reset();
    if (const auto call = size_of_write_(tid); call.ok()) {
      total_ = *call;
      // Addresses only: pages are taken when the bytes come.
      ReserveLarge(data_.body, std::min(*call, kLimit));
    }
  } else if (tid != tid_ || offset != size()) {
    return Verdict::kInvalid;
  } else if (size() + data.size() > kLimit) {
    data_ = {};
    return Verdict::kInvalid;
  }
  const mad::Bytes head =
      data.first(std::min(head_size_ - data_.head.size(), data.size()));
  const mad::Bytes body = data.subspan(head.size());
  data_.head.insert(data_.head.end(), head.begin(), head.end());
  data_.body.insert(data_.body.end(), body.begin(), body.end());
  if (total_) return size() >= *total_ ? Verdict::kWhole : Verdict::kMore;
  return MayGoOn(data.size(), piece) ? Verdict::kMaybe : Verdict::kWhole;
}

std::vector<SplitReads::Rest>::iterator SplitReads::Find(pid_t tid) {
  return std::find_if(rests_.begin(), rests_.end(),
                      [tid](const Rest& rest) { return rest.tid == tid; });
}

void SplitReads::Keep(pid_t tid, uint64_t offset, std::vector<std::byte> bytes,
                      size_t sent) {
  Forget(tid);
  rests_.push_back({tid, offset, std::move(bytes), sent});
}

mad::Bytes SplitReads::Next(pid_t tid, uint64_t offset, size_t size) {
  const auto rest = Find(tid);
  if (rest == rests_.end() || rest->offset != offset) return {};
  const mad::Bytes left = mad::Bytes(rest->bytes).subspan(rest->sent);
  const mad::Bytes next = left.first(std::min(size, left.size()));
  rest->offset += next.size();
  rest->sent += next.size();
  return next;
}

void SplitReads::Forget(pid_t tid) {
  const auto rest = Find(tid);
  if (rest != rests_.end()) rests_.erase(rest);
}

void SplitReads::ForgetIfRead(pid_t tid) {
  const auto rest = Find(tid);
  if (rest != rests_.end() && rest->sent == rest->bytes.size()) {
    rests_.erase(rest);
  }
}

}  // namespace ibemu::cuse
