// Answers to clients' requests, independent of who carries them.
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

// Names one unanswered request of a front end.
enum class RequestId : uintptr_t {};

// The front end's side of replies.  Each call answers `id`, once; bytes that it
// does not own are copied before it returns.
class ReplySink {
 public:
  virtual void SendError(RequestId id, Errno error) = 0;
  virtual void SendOpened(RequestId id) = 0;
  virtual void SendData(RequestId id, Bytes head,
                        std::vector<std::byte> body) = 0;
  // `room` is the size that the client gave to read().
  virtual void SendNoSpace(RequestId id, size_t room, Bytes head,
                           Bytes body) = 0;
  virtual void SendWritten(RequestId id, size_t size) = 0;
  virtual void SendIoctl(RequestId id, Errno result, Bytes out) = 0;

 protected:
  ~ReplySink() = default;
};

// The right and the duty to answer one request.  May be kept: the request is
// then parked and its client blocked.  A reply that is dropped fails with EIO.
// Loop thread only.
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

class OpenReply : public Reply {
 public:
  using Reply::Reply;
  void Opened() { Take().SendOpened(id()); }
};

class ReadReply : public Reply {
 public:
  ReadReply(ReplySink& sink, RequestId id, size_t room)
      : Reply(sink, id), room_(room) {}

  // How many bytes the client has room for.
  size_t room() const { return room_; }

  // `head`, then `body`: together at most room().
  void Data(Bytes head, std::vector<std::byte> body = {}) {
    Take().SendData(id(), head, std::move(body));
  }

  // Fails with ENOSPC, and puts `head` and `body` into the client's buffer all
  // the same: umad's way to say how long the message is.
  void NoSpace(Bytes head, Bytes body) {
    Take().SendNoSpace(id(), room_, head, body);
  }

 private:
  size_t room_;
};

class WriteReply : public Reply {
 public:
  using Reply::Reply;
  void Written(size_t size) { Take().SendWritten(id(), size); }
};

class IoctlReply : public Reply {
 public:
  using Reply::Reply;
  void Done(Bytes out = {}) { Take().SendIoctl(id(), Errno::kOk, out); }

  // Fails, yet changes the client's argument.
  void FailWith(Errno error, Bytes out) { Take().SendIoctl(id(), error, out); }
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_REPLY_H_
