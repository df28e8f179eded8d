// read() and poll() of a descriptor from which verbs events come.
#ifndef IBEMU_CUSE_UVERBS_EVENT_READER_H_
#define IBEMU_CUSE_UVERBS_EVENT_READER_H_

#include <functional>
#include <memory>

#include "cuse/parked_reads.h"
#include "cuse/reply.h"
#include "verbs/uverbs/event_queue.h"

namespace ibemu::cuse {

// One event a read(), as ib_uverbs_event_read() gives them.
class EventReader {
 public:
  // `readable` is called when poll() may have changed.
  explicit EventReader(std::function<void()> readable)
      : readable_(std::move(readable)) {}
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // Before it has a queue reads fail with EINVAL.
  void Bind(std::shared_ptr<verbs::EventQueue> queue);
  bool bound() const { return queue_ != nullptr; }

  void Read(bool nonblock, ReadReply reply);
  uint32_t Poll() const;
  void Interrupt(RequestId id) { reads_.Interrupt(id); }

 private:
  void OnEvent();
  void Deliver(ReadReply reply);

  std::function<void()> readable_;
  std::shared_ptr<verbs::EventQueue> queue_;
  ParkedReads reads_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_EVENT_READER_H_
