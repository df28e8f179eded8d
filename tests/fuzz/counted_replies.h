// CountedReplies: a front end that ends the program at a wrong answer.
#ifndef IBEMU_TESTS_FUZZ_COUNTED_REPLIES_H_
#define IBEMU_TESTS_FUZZ_COUNTED_REPLIES_H_

#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "cuse/reply.h"

namespace ibemu::cuse {

inline void Require(bool holds) {
  if (!holds) std::abort();
}

// A CountedReplies knows the requests that are open, and how much each has room
// for: each is answered once at most, and with no more than that.
class CountedReplies : public ReplySink {
 public:
  // Returns the id of a new request.
  RequestId Next(size_t room) {
    const RequestId id{++last_};
    open_.emplace(id, room);
    return id;
  }

  const std::map<RequestId, size_t>& open() const { return open_; }

 protected:
  ~CountedReplies() = default;

 private:
  // Returns how much the request had room for.
  size_t Close(RequestId id) {
    const auto request = open_.extract(id);
    Require(!request.empty());
    return request.mapped();
  }

  void SendError(RequestId id, Errno /*error*/) override { Close(id); }
  void SendOpened(RequestId id) override { Close(id); }
  void SendData(RequestId id, Bytes head,
                std::vector<std::byte> body) override {
    Require(head.size() + body.size() <= Close(id));
  }
  void SendNoSpace(RequestId id, size_t room, Bytes head, Bytes body) override {
    Require(Close(id) == room && head.size() + body.size() <= room);
  }
  void SendWritten(RequestId id, size_t size) override {
    Require(Close(id) == size);
  }
  void SendIoctl(RequestId id, Errno /*result*/, Bytes out) override {
    Require(out.size() <= Close(id));
  }

  uintptr_t last_ = 0;
  std::map<RequestId, size_t> open_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_FUZZ_COUNTED_REPLIES_H_
