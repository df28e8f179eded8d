#include "cuse/split_calls.h"

#include <algorithm>
#include <utility>

namespace ibemu::cuse {

SplitWrites::Verdict SplitWrites::Add(pid_t tid, uint64_t offset,
                                      mad::Bytes data, size_t piece) {
  if (offset == 0) {
    data_.clear();
    tid_ = tid;
    total_.reset();
    if (const auto size = size_of_write_(tid); size.ok()) total_ = *size;
  } else if (tid != tid_ || offset != data_.size() ||
             data_.size() + data.size() > kLimit) {
    return Verdict::kInvalid;
  }
  data_.insert(data_.end(), data.begin(), data.end());
  if (total_) {
    return data_.size() >= *total_ ? Verdict::kWhole : Verdict::kMore;
  }
  return MayGoOn(data.size(), piece) ? Verdict::kMaybe : Verdict::kWhole;
}

std::vector<std::byte> SplitWrites::TakeWhole() {
  return std::exchange(data_, {});
}

std::vector<SplitReads::Rest>::iterator SplitReads::Find(pid_t tid) {
  return std::find_if(rests_.begin(), rests_.end(),
                      [tid](const Rest& rest) { return rest.tid == tid; });
}

void SplitReads::Keep(pid_t tid, size_t sent, std::vector<std::byte> whole) {
  Forget(tid);
  rests_.push_back({tid, sent, std::move(whole)});
}

mad::Bytes SplitReads::Next(pid_t tid, uint64_t offset, size_t size) {
  const auto rest = Find(tid);
  if (rest == rests_.end() || rest->sent != offset) return {};
  const mad::Bytes left = mad::Bytes(rest->whole).subspan(rest->sent);
  const mad::Bytes next = left.first(std::min(size, left.size()));
  rest->sent += next.size();
  return next;
}

void SplitReads::Forget(pid_t tid) {
  const auto rest = Find(tid);
  if (rest != rests_.end()) rests_.erase(rest);
}

}  // namespace ibemu::cuse
