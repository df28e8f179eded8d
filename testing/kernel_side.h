// The kernel's side of a FUSE connection, for tests.
#ifndef IBEMU_TESTING_KERNEL_SIDE_H_
#define IBEMU_TESTING_KERNEL_SIDE_H_

#include <linux/fuse.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace ibemu::testing {

// A KernelSide plays the kernel for a FUSE front end, over a pair of sockets.
// It speaks the raw protocol of <linux/fuse.h>, so that tests need neither root
// nor a mount.  Errors are positive errnos.  One request is at most 128 KiB
// long, as from a kernel without FUSE_MAX_PAGES.
class KernelSide {
 public:
  static constexpr size_t kPiece = size_t{128} << 10;
  static constexpr uint32_t kMinor = 27;  // the last one of such kernels

  using Bytes = std::span<const std::byte>;

  struct Reply {
    int error = 0;
    std::vector<std::byte> data;
  };
  struct Entry {
    int error = 0;
    fuse_entry_out out{};
  };
  struct OpenFile {
    int error = 0;
    uint64_t node = 0;
    uint64_t handle = 0;
    uint32_t flags = 0;  // FOPEN_*
  };
  struct DirectoryEntry {
    std::string name;
    uint64_t next = 0;  // the offset after it
  };
  struct IoctlResult {
    int error = 0;
    std::vector<std::byte> out;
  };

  KernelSide();

  // Returns the other end of the connection, to be served.  Call once.
  int TakeServerFd() { return server_.Release(); }

  // Sets the function that lets the server work until it has nothing to do.
  void SetPump(std::function<void()> pump) { pump_ = std::move(pump); }

  // Sets the function that waits until a thread of the server has done
  // something.
  void SetWorkerWait(std::function<void()> wait) { wait_ = std::move(wait); }

  // Sets the thread and the user that make requests from now on.
  void SetCaller(pid_t tid, uint32_t uid = 0, uint32_t gid = 0) {
    tid_ = tid, uid_ = uid, gid_ = gid;
  }

  // Sends one request and returns its number.  Wait() waits for its answer,
  // Take() looks whether there is one.
  uint64_t Send(uint32_t opcode, uint64_t node,
                std::initializer_list<Bytes> parts);
  std::optional<Reply> Take(uint64_t request);
  bool IsParked(uint64_t request) { return !Take(request).has_value(); }

  // Lets the server work and returns the answer; the test fails if there is
  // none.
  Reply Wait(uint64_t request);

  // Waits for the answer to a request in which a thread of the server takes
  // part.
  Reply WaitForWorker(uint64_t request);

  Reply Call(uint32_t opcode, uint64_t node,
             std::initializer_list<Bytes> parts) {
    return Wait(Send(opcode, node, parts));
  }

  // `minor` is its version of the protocol.
  void Init(uint32_t minor = kMinor);

  // Asks for the name and number of the device, as the kernel does at once when
  // a server has opened /dev/cuse.
  uint64_t StartCuse();
  struct Device {
    int error = 0;
    uint32_t major = 0;
    uint32_t minor = 0;
    std::string name;  // below /dev
  };
  Device FinishCuse(uint64_t request);

  Entry Lookup(uint64_t parent, std::string_view name);
  Entry Walk(std::string_view path);  // looks up, from the root
  void Forget(uint64_t node, uint64_t times = 1);
  std::string ReadLink(uint64_t node);
  std::vector<std::string> List(uint64_t directory);
  // Reads at most `size` bytes of entries from `offset` on.
  std::vector<DirectoryEntry> ReadDirectory(uint64_t directory, uint64_t offset,
                                            uint32_t size);
  OpenFile OpenDirectory(uint64_t node);

  uint64_t StartOpen(uint64_t node, uint32_t flags);
  OpenFile FinishOpen(uint64_t request, uint64_t node);
  OpenFile Open(uint64_t node, uint32_t flags);
  OpenFile Open(std::string_view path, uint32_t flags);
  void Release(const OpenFile& file);

  uint64_t StartRead(const OpenFile& file, size_t size, uint64_t offset = 0,
                     uint32_t flags = 0);
  Reply Read(const OpenFile& file, size_t size, uint64_t offset = 0,
             uint32_t flags = 0);
  Reply Write(const OpenFile& file, Bytes data, uint64_t offset = 0,
              uint32_t flags = 0);
  // Starts an ioctl() whose argument is at the address of `in`.  A thread of
  // the server writes these bytes back to their place (see
  // cuse::ProbeArgument()).
  uint64_t StartIoctl(const OpenFile& file, uint32_t command, Bytes in,
                      size_t out_size);
  IoctlResult Ioctl(const OpenFile& file, uint32_t command, Bytes in,
                    size_t out_size);
  // Returns the events, or a negative errno.  `notify` is the flag
  // FUSE_POLL_SCHEDULE_NOTIFY.
  int Poll(const OpenFile& file, bool notify = true);

  // Interrupts `request`, as if a signal had reached its client.
  void Interrupt(uint64_t request);

  // Returns the number of poll notifications since the last call.
  int TakeNotifications();

  // Closes the kernel's end, as when the file system is unmounted.
  void HangUp() { kernel_.Reset(); }

 private:
  void Receive();

  UniqueFd kernel_;
  UniqueFd server_;
  std::function<void()> pump_ = [] {};
  std::function<void()> wait_;
  pid_t tid_ = gettid();
  uint32_t uid_ = 0;
  uint32_t gid_ = 0;
  uint64_t last_request_ = 0;
  int notifications_ = 0;
  std::map<uint64_t, Reply> replies_;
};

// Returns the bytes of a plain structure, which must outlive the result.
template <class T>
KernelSide::Bytes AsBytes(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_KERNEL_SIDE_H_
