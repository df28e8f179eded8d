// Plays the kernel for a FUSE front end, over a pair of sockets.
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

// Speaks the raw protocol of <linux/fuse.h>, so that tests need neither root
// nor a mount.  Errors are positive errnos.  One request is at most 128 KiB, as
// of a kernel without FUSE_MAX_PAGES.
class KernelSide {
 public:
  static constexpr size_t kPiece = size_t{128} << 10;

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
    uint64_t next = 0;  // the offset behind it
  };
  struct IoctlResult {
    int error = 0;
    std::vector<std::byte> out;
  };

  KernelSide();

  // The other end, to be served.  Call once.
  int TakeServerFd() { return server_.Release(); }

  // What lets the server work until it has nothing to do.
  void SetPump(std::function<void()> pump) { pump_ = std::move(pump); }

  // What waits until a thread of the server has done something.
  void SetWorkerWait(std::function<void()> wait) { wait_ = std::move(wait); }

  // Who makes requests from now on.
  void SetCaller(pid_t tid, uint32_t uid = 0) { tid_ = tid, uid_ = uid; }

  // One request; the answer is waited for with Wait() or looked for with
  // Take().  Returns its number.
  uint64_t Send(uint32_t opcode, uint64_t node,
                std::initializer_list<Bytes> parts);
  std::optional<Reply> Take(uint64_t request);
  bool IsParked(uint64_t request) { return !Take(request).has_value(); }

  // Pumps, and fails the test when there is no answer.
  Reply Wait(uint64_t request);

  // The answer to a request that a thread of the server has to do with.
  Reply WaitForWorker(uint64_t request);

  Reply Call(uint32_t opcode, uint64_t node,
             std::initializer_list<Bytes> parts) {
    return Wait(Send(opcode, node, parts));
  }

  void Init();

  // A /dev/cuse was opened: asks who it is, as the kernel does at once.
  uint64_t StartCuse();
  struct Device {
    int error = 0;
    uint32_t major = 0;
    uint32_t minor = 0;
    std::string name;  // below /dev
  };
  Device FinishCuse(uint64_t request);

  Entry Lookup(uint64_t parent, std::string_view name);
  Entry Walk(std::string_view path);  // from the root
  void Forget(uint64_t node, uint64_t times = 1);
  std::string ReadLink(uint64_t node);
  std::vector<std::string> List(uint64_t directory);
  // At most `size` bytes of entries behind `offset`.
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
  Reply Write(const OpenFile& file, Bytes data, uint64_t offset = 0);
  // The argument is where `in` is.  A thread of the server writes it back.
  uint64_t StartIoctl(const OpenFile& file, uint32_t command, Bytes in,
                      size_t out_size);
  IoctlResult Ioctl(const OpenFile& file, uint32_t command, Bytes in,
                    size_t out_size);
  // Events; negative errno when it fails.  `notify`: FUSE_POLL_SCHEDULE_NOTIFY.
  int Poll(const OpenFile& file, bool notify = true);

  // A signal reaches the client of `request`.
  void Interrupt(uint64_t request);

  // Poll notifications since the last call.
  int TakeNotifications();

  // The file system is unmounted.
  void HangUp() { kernel_.Reset(); }

 private:
  void Receive();

  UniqueFd kernel_;
  UniqueFd server_;
  std::function<void()> pump_ = [] {};
  std::function<void()> wait_;
  pid_t tid_ = gettid();
  uint32_t uid_ = 0;
  uint64_t last_request_ = 0;
  int notifications_ = 0;
  std::map<uint64_t, Reply> replies_;
};

// The bytes of a plain structure.
template <class T>
KernelSide::Bytes AsBytes(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_KERNEL_SIDE_H_
