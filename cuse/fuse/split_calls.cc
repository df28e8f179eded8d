#include "cuse/fuse/split_calls.h"

#include <algorithm>
#include <cstdint>
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

std::optional<size_t> SplitWrites::SizeOf(pid_t tid) {
  const auto call = Find(tid);
  return call == calls_.end() ? std::nullopt : call->total;
}

uint64_t SplitWrites::OffsetOfAppended(pid_t tid, uint64_t place) {
  const auto call = Find(tid);
  if (call == calls_.end()) return 0;
  const uint64_t offset = place - call->start;
  return offset == call->data.size() ? offset : 0;
}

void SplitWrites::Forget(pid_t tid) {
  if (const auto call = Find(tid); call != calls_.end()) calls_.erase(call);
}

SplitWrites::Verdict SplitWrites::Begin(const Piece& first) {
  Forget(first.tid);
  Call call{.tid = first.tid,
            .start = first.start,
            .head_size = first.head_size,
            .total = std::nullopt,
            .data = {},
            .share = CallBudget::Share(budget_, first.user)};
  if (const auto size = size_of_write_(first.tid); size.ok()) {
    if (*size > first.longest) return Verdict::kTooLong;
    call.total = *size;
    // This reserves addresses only: pages are taken when the bytes come.
    ReserveLarge(call.data.body, *size);
  }
  if (calls_.size() >= kMaxThreads) calls_.erase(calls_.begin());
  calls_.push_back(std::move(call));
  return Verdict::kMore;
}

SplitWrites::Verdict SplitWrites::Add(const Piece& piece) {
  if (piece.offset == 0) {
    const Verdict begun = Begin(piece);
    if (begun != Verdict::kMore) return begun;
  }
  const auto call = Find(piece.tid);
  if (call == calls_.end() || piece.offset != call->data.size()) {
    return Verdict::kInvalid;
  }
  auto& [head, body] = call->data;
  const mad::Bytes data = piece.data;
  const size_t size = call->data.size() + data.size();
  // What has come, and the next piece: not what was announced, which may never
  // come, and would keep all else of that user out.
  const size_t charged = std::min(call->total.value_or(SIZE_MAX),
                                  size + (call->total ? piece.limit : 0));
  if (size > piece.longest || !call->share.GrowTo(std::max(size, charged))) {
    calls_.erase(call);
    return size > piece.longest ? Verdict::kTooLong : Verdict::kNoMemory;
  }
  const mad::Bytes front =
      data.first(std::min(call->head_size - head.size(), data.size()));
  const mad::Bytes rest = data.subspan(front.size());
  head.insert(head.end(), front.begin(), front.end());
  body.insert(body.end(), rest.begin(), rest.end());
  if (call->total) {
    return call->data.size() >= *call->total ? Verdict::kWhole : Verdict::kMore;
  }
  return MayGoOn(data.size(), piece.limit) ? Verdict::kMaybe : Verdict::kWhole;
}

SplitWrites::Whole SplitWrites::TakeWhole(pid_t tid) {
  const auto call = Find(tid);
  if (call == calls_.end()) return {};
  Whole whole = std::move(call->data);
  calls_.erase(call);
  return whole;
}

std::vector<SplitReads::Rest>::iterator SplitReads::Find(pid_t tid) {
  return std::find_if(rests_.begin(), rests_.end(), [tid](const Rest& rest) {
    return rest.answer.tid == tid;
  });
}

bool SplitReads::pending(pid_t tid) const {
  return std::any_of(rests_.begin(), rests_.end(), [tid](const Rest& rest) {
    return rest.answer.tid == tid;
  });
}

bool SplitReads::Keep(Answer answer) {
  Forget(answer.tid);
  CallBudget::Share share(budget_, answer.user);
  if (!share.GrowTo(answer.bytes.size())) return false;
  if (rests_.size() >= kMaxThreads) rests_.erase(rests_.begin());
  rests_.push_back({std::move(answer), std::move(share)});
  return true;
}

mad::Bytes SplitReads::First(pid_t tid) {
  const Answer& answer = Find(tid)->answer;
  return mad::Bytes(answer.bytes).first(answer.sent);
}

mad::Bytes SplitReads::Next(pid_t tid, uint64_t offset, size_t size) {
  const auto rest = Find(tid);
  if (rest == rests_.end() || rest->answer.offset != offset) return {};
  Answer& answer = rest->answer;
  const mad::Bytes left = mad::Bytes(answer.bytes).subspan(answer.sent);
  const mad::Bytes next = left.first(std::min(size, left.size()));
  answer.offset += next.size();
  answer.sent += next.size();
  return next;
}

void SplitReads::Forget(pid_t tid) {
  const auto rest = Find(tid);
  if (rest != rests_.end()) rests_.erase(rest);
}

void SplitReads::ForgetIfRead(pid_t tid) {
  const auto rest = Find(tid);
  if (rest != rests_.end() && rest->answer.sent == rest->answer.bytes.size()) {
    rests_.erase(rest);
  }
}

}  // namespace ibemu::cuse
