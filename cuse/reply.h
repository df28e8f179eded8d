// Reply: the answer to a client's request, independent of the front end that
// carries it.
#ifndef IBEMU_CUSE_REPLY_H_
#define IBEMU_CUSE_REPLY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cuse/errno.h"
#include "mad/address.h"

namespace ibemu::cuse {

using mad::Bytes;

// The id of one unanswered request of a front end.
enum class RequestId : uintptr_t {};

// The front end's side of replies.  Each call answers `id`, once.  Bytes that
// it gets without their ownership are copied before it returns.
class ReplySink {
 public:
  virtual void SendError(RequestId id, Errno error) = 0;
  virtual void SendOpened(RequestId id) = 0;
  virtual void SendData(RequestId id, Bytes head,
                        std::vector<std::byte> body) = 0;
  // `room` is the size that the client passed to read().
  virtual void SendNoSpace(RequestId id, size_t room, Bytes head,
                           Bytes body) = 0;
  virtual void SendWritten(RequestId id, size_t size) = 0;
  virtual void SendIoctl(RequestId id, Errno result, Bytes out) = 0;

 protected:
  ~ReplySink() = default;
};

// The right and the duty to answer one request.  It may be kept: the request is
// then parked, and its client blocked.  A reply that is destroyed without an
// answer fails with EIO.  Loop thread only.
class Reply {
 public:
  Reply(ReplySink& sink, RequestId id) : sink_(&sink), id_(id) {}
  Reply(Reply&& other) noexcept
      : sink_(std::exchange(other.sink_, nullptr)), id_(other.id_) {}
  Reply& operator=(Reply&& other) noexcept {
    if (this != &other) {
      Drop();
      sink_ = std::exchange(other.sink_, nullptr);
      id_ = other.id_;
    }
    return *this;
  }
  ~Reply() { Drop(); }

  RequestId id() const { return id_; }

  void Fail(Errno error) { Take().SendError(id_, error); }

 protected:
  // A second answer is a bug.
  ReplySink& Take() {
    if (sink_ == nullptr) std::abort();
    return *std::exchange(sink_, nullptr);
  }

 private:
  void Drop() {
    if (sink_ != nullptr) Fail(Errno::kIo);
  }

  ReplySink* sink_;
  RequestId id_;
};

// The answer to an open().
class OpenReply : public Reply {
 public:
  using Reply::Reply;
  void Opened() { Take().SendOpened(id()); }
};

// The answer to a read().
class ReadReply : public Reply {
 public:
  ReadReply(ReplySink& sink, RequestId id, size_t room)
      : Reply(sink, id), room_(room) {}

  // The number of bytes that the client has room for.
  size_t room() const { return room_; }

  // Sends `head`, then `body`, which have together at most room() bytes.
  void Data(Bytes head, std::vector<std::byte> body = {}) {
    Take().SendData(id(), head, std::move(body));
  }

  // Fails with ENOSPC, and still puts `head` and `body` into the client's
  // buffer.  This is umad's way to tell the length of a message.
  void NoSpace(Bytes head, Bytes body) {
    Take().SendNoSpace(id(), room_, head, body);
  }

 private:
  size_t room_;
};

// The answer to a write().
class WriteReply : public Reply {
 public:
  using Reply::Reply;
  void Written(size_t size) { Take().SendWritten(id(), size); }
};

// The answer to an ioctl().
class IoctlReply : public Reply {
 public:
  using Reply::Reply;
  void Done(Bytes out = {}) { Take().SendIoctl(id(), Errno::kOk, out); }

  // Fails, but still changes the client's argument.
  void FailWith(Errno error, Bytes out) { Take().SendIoctl(id(), error, out); }
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_REPLY_H_
