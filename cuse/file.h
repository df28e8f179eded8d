// An open device file, whichever front end (FuseTree, CUSE) serves it.
#ifndef IBEMU_CUSE_FILE_H_
#define IBEMU_CUSE_FILE_H_

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuse/reply.h"

namespace ibemu::cuse {

struct IoctlRequest {
  uint32_t command = 0;
  uint64_t argument = 0;  // as passed: a pointer of the client, or a number
  Bytes in;               // what _IOC_WRITE commands point at
  size_t out_room = 0;    // what the answer may hold
  bool writable = true;   // false: the answer will not reach the client
  pid_t caller = 0;       // the thread that asks
  uid_t user = 0;         // and whose it is
};

// All that a client wrote, in two parts: a body of megabytes can be kept
// without being copied.
struct Written {
  Bytes head;  // as many bytes as File::HeadSize() said, if there are as many
  std::vector<std::byte> body;
  pid_t caller = 0;  // the thread that wrote; 0 if it did not wait

  size_t size() const { return head.size() + body.size(); }

  // Of a write that came in one piece; copies the body.
  static Written Of(Bytes data, size_t head_size, pid_t caller = 0) {
    const Bytes head = data.first(std::min(head_size, data.size()));
    const Bytes body = data.subspan(head.size());
    return {head, {body.begin(), body.end()}, caller};
  }
};

// One struct file: from open() until its last descriptor is closed.  Destroying
// it is the release; replies that it still holds fail.  Everything runs on the
// loop thread, and bytes passed in are valid during the call alone.
class File {
 public:
  // poll() may have changed.
  class Listener {
   public:
    virtual void OnEvents() = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~File() = default;

  // Comes first, once.  The file lives on only if it is answered with Opened().
  virtual void Open(bool nonblock, OpenReply reply) = 0;

  // Calls are whole, however the front end had to cut them: `data` is all that
  // the client wrote, reply.room() all that it wants to read.
  virtual void Read(bool nonblock, ReadReply reply) = 0;

  // Whether write() is for the user alone who opened it, whoever has it now: a
  // program of another user may be made to write what it does not know.
  virtual bool IsForOpenerOnly() const { return false; }

  // The size of the header that a write() begins with, as it is now.
  virtual size_t HeadSize() const { return 0; }

  // A write that is parked blocks every writer of the inode: soon, of its own
  // accord, it must be answered.
  virtual void Write(Written data, WriteReply reply) = 0;

  virtual void Ioctl(const IoctlRequest& request, IoctlReply reply) = 0;

  // Events as poll(2) numbers them, now.
  virtual uint32_t Poll() = 0;

  // A signal reached the client of a request that was not answered when its
  // call returned: fail that one with EINTR, unless it is being answered.
  virtual void Interrupt(RequestId id) = 0;

  // At most one; outlives the file.
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
