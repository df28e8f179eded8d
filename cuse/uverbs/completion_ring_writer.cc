#include "cuse/uverbs/completion_ring_writer.h"

namespace ibemu::cuse {

void CompletionRingWriter::SetQueue(std::optional<uint32_t> queue) {
  Close();
  producer_ = taken_ = polled_ = 0;
  queue_ = queue;
  ring_.queue = queue ? uint64_t{*queue} + 1 : 0;
}

void CompletionRingWriter::End() {
  Close();
  ended_ = true;
}

bool CompletionRingWriter::Believe(uint64_t consumer) {
  const uint32_t taken = Ring::TakenOf(consumer);
  if (Ring::ChangesOf(consumer) != changes_ ||
      taken - taken_ > producer_ - taken_) {
    ended_ = broken_ = true;
    return false;
  }
  taken_ = taken;
  return true;
}

size_t CompletionRingWriter::taken() {
  if (is_open() && !Believe(ring_.consumer.load())) Close();
  return taken_ - polled_;
}

size_t CompletionRingWriter::room() {
  taken();
  return Ring::kEntries - (producer_ - polled_);
}

void CompletionRingWriter::Open() {
  if (is_open() || ended_) return;
  producer_ = taken_ = polled_ = 0;
  ring_.producer = 0;
  ring_.has_more = 1;
  ring_.consumer = Ring::Consumer(++changes_, 0);
}

void CompletionRingWriter::Close() {
  if (!is_open()) return;
  Believe(ring_.consumer.exchange(Ring::Consumer(changes_ + 1, 0)));
  ++changes_;
  producer_ = taken_;
}

void CompletionRingWriter::Add(const verbs::WaitingCompletion& completion,
                               std::optional<uint32_t> qp) {
  const uint64_t name = qp ? promises_.NameOfSender(*qp) : 0;
  const uint32_t sends = name == 0 ? 0 : completion.frees_sends;
  freed_[producer_ % Ring::kEntries] = {.queue_pair = name, .sends = sends};
  ring_.Put(producer_, {.completion = completion.completion,
                        .queue_pair = name,
                        .frees_sends = sends});
  ring_.producer = ++producer_;
}

void CompletionRingWriter::SetMore(bool more) { ring_.has_more = more ? 1 : 0; }

void CompletionRingWriter::OnPolled(size_t count) {
  for (; count > 0; --count) {
    const Freed& freed = freed_[polled_++ % Ring::kEntries];
    promises_.OnFreed(freed.queue_pair, freed.sends);
  }
}

}  // namespace ibemu::cuse
