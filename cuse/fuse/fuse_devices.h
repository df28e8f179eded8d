// FuseDevices: open device files behind libfuse requests, for every front end.
#ifndef IBEMU_CUSE_FUSE_FUSE_DEVICES_H_
#define IBEMU_CUSE_FUSE_FUSE_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/timers.h"
#include "base/worker_pool.h"
#include "cuse/client/caller_credentials.h"
#include "cuse/client/no_space.h"
#include "cuse/file.h"
#include "cuse/fuse/call_budget.h"
#include "cuse/fuse/libfuse.h"
#include "cuse/fuse/slot_table.h"

namespace ibemu::cuse {

// The open device files of one front end.  FuseTree and CUSE get the same
// requests for a device file.  This class passes them to the File, carries its
// replies back, parks and interrupts requests, and wakes poll().  Calls that
// the kernel split are joined by the file's LongReads and LongWrites.
class FuseDevices final : public ReplySink {
 public:
  // `supervisor` is the user who may open files for others (kOpenedFor), as
  // root may; if empty, nobody may.  REQUIRES: `timers` and `workers` outlive
  // this object.
  FuseDevices(Timers& timers, WorkerPool& workers,
              std::optional<uid_t> supervisor);

  // Ends every file.  REQUIRES: the session still exists.
  ~FuseDevices();

  // Sets the maximum number of bytes in one READ or WRITE: max_write.
  void SetPiece(size_t piece) { piece_ = piece; }

  // True if no file is open, or being opened.
  bool empty() const { return handles_.empty(); }

  // Each call answers `request` at once or later.  `file` is released with the
  // last close, or when its opening fails; `open_flags` are the FOPEN_* flags
  // that the kernel gets.
  void Open(fuse_req_t request, std::unique_ptr<File> file, int flags,
            uint32_t open_flags);
  void Read(fuse_req_t request, size_t size, off_t offset,
            const fuse_file_info& info);
  void Write(fuse_req_t request, Bytes data, off_t offset,
             const fuse_file_info& info);
  void Ioctl(fuse_req_t request, const IoctlRequest& ioctl,
             const fuse_file_info& info);
  // Takes ownership of `handle`, which may be null.
  void Poll(fuse_req_t request, const fuse_file_info& info,
            fuse_pollhandle* handle);
  void Release(fuse_req_t request, const fuse_file_info& info);

 private:
  struct Handle;
  struct Opening {
    uint64_t handle;  // its number
    uint32_t open_flags;
  };
  struct LongRead {
    Handle* handle;
    size_t size;  // of its first request
  };

  void SendError(RequestId id, Errno error) override;
  void SendOpened(RequestId id) override;
  void SendData(RequestId id, Bytes head, std::vector<std::byte> body) override;
  void SendNoSpace(RequestId id, size_t room, Bytes head, Bytes body) override;
  void SendWritten(RequestId id, size_t size) override;
  void SendIoctl(RequestId id, Errno result, Bytes out) override;

  static void OnInterrupt(fuse_req_t request, void* handle);

  template <class Call>
  void Dispatch(fuse_req_t request, Handle& handle, Call call);
  // Returns the request that `id` names, which is answered now.
  fuse_req_t Settle(RequestId id);
  static bool IsOpener(const fuse_ctx& caller, const Handle& handle);
  bool MayWrite(const fuse_ctx& caller, Handle& handle);
  Errno SetOpener(const fuse_ctx& caller, Bytes thread, Handle& handle);
  void RunIoctl(fuse_req_t request, const IoctlRequest& ioctl, uint64_t number);
  void AnswerNoSpace(fuse_req_t request, NoSpaceAnswer how, Bytes data);
  void RemoveSoon(uint64_t number);

  Timers& timers_;
  WorkerPool& workers_;
  const std::optional<uid_t> supervisor_;
  CallerCredentials credentials_;
  const std::shared_ptr<CallBudget> budget_ = CallBudget::OfThisDaemon();
  size_t piece_ = size_t{128} << 10;
  RequestId running_{};  // in a call that has not returned, if not answered yet
  SlotTable<Handle> handles_;
  // Data of requests for which the id is not enough; mostly empty.
  absl::flat_hash_map<RequestId, Opening> opening_;
  absl::flat_hash_map<RequestId, LongRead> long_reads_;
  absl::flat_hash_map<RequestId, size_t> long_writes_;  // sizes of last pieces
  absl::flat_hash_set<fuse_req_t> at_worker_;
  std::shared_ptr<FuseDevices*> self_;  // points to null after the end
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_DEVICES_H_
