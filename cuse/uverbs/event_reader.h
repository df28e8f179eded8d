// EventReader: read() and poll() of a descriptor that delivers verbs events.
#ifndef IBEMU_CUSE_UVERBS_EVENT_READER_H_
#define IBEMU_CUSE_UVERBS_EVENT_READER_H_

#include <functional>
#include <memory>

#include "cuse/parked_reads.h"
#include "cuse/reply.h"
#include "verbs/uverbs/event_queue.h"

namespace ibemu::cuse {

// The reader of one event queue.  Each read() returns one event, as
// ib_uverbs_event_read() does.
class EventReader {
 public:
  // `readable` is called when the result of poll() may have changed.
  explicit EventReader(std::function<void()> readable)
      : readable_(std::move(readable)) {}
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // Sets the queue.  Reads without a queue fail with EINVAL.
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
