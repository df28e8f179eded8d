// File: an open device file, independent of the front end (FuseTree, CUSE) that
// serves it.
#ifndef IBEMU_CUSE_FILE_H_
#define IBEMU_CUSE_FILE_H_

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuse/reply.h"

namespace ibemu::cuse {

// The arguments of an ioctl().
struct IoctlRequest {
  uint32_t command = 0;
  uint64_t argument = 0;  // as passed: a client's pointer, or a number
  Bytes in;               // the data of an _IOC_WRITE command
  size_t out_room = 0;    // the maximum size of the answer
  bool writable = true;   // false: the answer will not reach the client
  pid_t caller = 0;       // the thread that asks
  uid_t user = 0;         // and its user
  bool is_opener = true;  // with the file system ids of who opened the file
  // Returns true if its process may write() to the file, whenever it is called.
  std::function<bool()> may_write = [] { return false; };
};

// The data of a write(), in two parts, so that a body of megabytes can be kept
// without being copied.
struct Written {
  Bytes head;  // the first File::HeadSize() bytes, or all if there are fewer
  std::vector<std::byte> body;
  pid_t caller = 0;       // the thread that wrote; 0 if it did not wait
  bool nonblock = false;  // with O_NONBLOCK at that time

  size_t size() const { return head.size() + body.size(); }

  // Returns the data of a write that came in one piece.  Copies the body.
  static Written Of(Bytes data, size_t head_size, pid_t caller = 0) {
    const Bytes head = data.first(std::min(head_size, data.size()));
    const Bytes body = data.subspan(head.size());
    return {head, {body.begin(), body.end()}, caller};
  }
};

// An open file, as the kernel's struct file: from open() until its last
// descriptor is closed.  Destroying it is the release, and fails the replies
// that it still holds.  All calls come on the loop thread.  Bytes passed in are
// valid only during the call.
class File {
 public:
  // A listener, which is called when the result of poll() may have changed.
  class Listener {
   public:
    virtual void OnEvents() = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~File() = default;

  // Opens the file.  This is the first call, and comes only once.  The file
  // lives on only if it is answered with Opened().
  virtual void Open(bool nonblock, OpenReply reply) = 0;

  // Calls come whole, even if the front end received them in parts: `data` is
  // all that the client wrote, and reply.room() is all that it wants to read.
  virtual void Read(bool nonblock, ReadReply reply) = 0;

  // Returns true if only threads with the credentials of the one that opened
  // the file may write to it, whoever has the descriptor now.  Otherwise a
  // program with other rights could be made to write data that it does not
  // know.
  virtual bool IsForOpenerOnly() const { return false; }

  // The maximum size of a write() in bytes, and the errno of a longer one.  It
  // counts for those that come in pieces.
  struct LongestWrite {
    size_t bytes = 0;
    Errno beyond = Errno::kInvalid;
  };
  virtual LongestWrite longest_write() const { return {}; }

  // Returns the size of the header that a write() begins with, as it is now.
  virtual size_t HeadSize() const { return 0; }

  // Returns true if `data` may be the front of a longer write(): the kernel
  // cuts one whose buffer can't be read to its end, and does not tell.
  virtual bool MayBeCut(Bytes /*data*/) const { return false; }

  // Handles a write().  While its reply is kept, other writers of the inode may
  // have to wait (in run mode: those of a umad, and on an older Linux all).  So
  // the file must answer it soon, and without help from a client.
  virtual void Write(Written data, WriteReply reply) = 0;

  virtual void Ioctl(const IoctlRequest& request, IoctlReply reply) = 0;

  // Returns the current events, numbered as in poll(2).
  virtual uint32_t Poll() = 0;

  // Called when the last descriptor is closed, before the file ends.
  virtual void Close() {}

  // Called when a signal reached the client of a request that was not answered
  // when its call returned.  Fails that request with EINTR, unless it is being
  // answered.
  virtual void Interrupt(RequestId id) = 0;

  // Sets the only listener, or removes it if null.  REQUIRES: the listener
  // lives until it is removed or the file ends.
  void SetListener(Listener* listener) { listener_ = listener; }

 protected:
  void NotifyEvents() {
    if (listener_ != nullptr) listener_->OnEvents();
  }

 private:
  Listener* listener_ = nullptr;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FILE_H_
