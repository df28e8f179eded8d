#include "cuse/fuse/split_calls.h"

#include <algorithm>
#include <utility>

#include "base/large_buffer.h"

namespace ibemu::cuse {

SplitWrites::Calls::iterator SplitWrites::Find(pid_t tid) {
  return std::find_if(calls_.begin(), calls_.end(),
                      [tid](const Call& call) { return call.tid == tid; });
}

bool SplitWrites::pending(pid_t tid) const {
  return std::any_of(calls_.begin(), calls_.end(),
                     [tid](const Call& call) { return call.tid == tid; });
}

bool SplitWrites::MayBeWhole(pid_t tid) const {
  return std::any_of(calls_.begin(), calls_.end(), [tid](const Call& call) {
    return call.tid == tid && (!call.total || call.data.size() >= *call.total);
  });
}

SplitWrites::Call& SplitWrites::Begin(pid_t tid, size_t head_size) {
  if (const auto last = Find(tid); last != calls_.end()) calls_.erase(last);
  if (calls_.size() >= kMaxThreads) calls_.erase(calls_.begin());
  Call& call = calls_.emplace_back();
  call.tid = tid;
  call.head_size = head_size;
  if (const auto size = size_of_write_(tid); size.ok()) {
    call.total = *size;
    // This reserves addresses only: pages are taken when the bytes come.
    ReserveLarge(call.data.body, std::min(*size, kLimit));
  }
  return call;
}

SplitWrites::Verdict SplitWrites::Add(pid_t tid, uint64_t offset,
                                      mad::Bytes data, size_t piece,
                                      size_t head_size) {
  if (offset == 0) Begin(tid, head_size);
  const auto call = Find(tid);
  if (call == calls_.end() || offset != call->data.size()) {
    return Verdict::kInvalid;
  }
  auto& [head, body] = call->data;
  if (call->data.size() + data.size() > kLimit) {
    calls_.erase(call);
    return Verdict::kInvalid;
  }
  const mad::Bytes front =
      data.first(std::min(call->head_size - head.size(), data.size()));
  const mad::Bytes rest = data.subspan(front.size());
  head.insert(head.end(), front.begin(), front.end());
  body.insert(body.end(), rest.begin(), rest.end());
  if (call->total) {
    return call->data.size() >= *call->total ? Verdict::kWhole : Verdict::kMore;
  }
  return MayGoOn(data.size(), piece) ? Verdict::kMaybe : Verdict::kWhole;
}

SplitWrites::Whole SplitWrites::TakeWhole(pid_t tid) {
  const auto call = Find(tid);
  if (call == calls_.end()) return {};
  Whole whole = std::move(call->data);
  calls_.erase(call);
  return whole;
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
