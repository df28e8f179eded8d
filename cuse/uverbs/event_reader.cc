#include "cuse/uverbs/event_reader.h"

#include <poll.h>

#include <utility>

namespace ibemu::cuse {

EventReader::~EventReader() {
  if (queue_ != nullptr) queue_->Close();
}

void EventReader::Bind(std::shared_ptr<verbs::EventQueue> queue) {
  queue_ = std::move(queue);
  queue_->SetListener([this] { OnEvent(); });
  if (!queue_->empty()) OnEvent();
}

void EventReader::Read(bool nonblock, ReadReply reply) {
  if (queue_ == nullptr || reply.room() < queue_->event_size()) {
    return reply.Fail(Errno::kInvalid);
  }
  if (!queue_->empty()) return Deliver(std::move(reply));
  if (nonblock) return reply.Fail(Errno::kTryAgain);
  reads_.Park(std::move(reply));
}

uint32_t EventReader::Poll() const {
  return queue_ == nullptr || queue_->empty() ? 0 : POLLIN | POLLRDNORM;
}

void EventReader::OnEvent() {
  while (!queue_->empty() && !reads_.empty()) Deliver(reads_.TakeFirst());
  if (!queue_->empty()) readable_();
}

void EventReader::Deliver(ReadReply reply) {
  const auto event = queue_->Take();
  reply.Data(Bytes(event).first(queue_->event_size()));
}

}  // namespace ibemu::cuse
