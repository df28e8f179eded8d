// A character device for the whole machine.
#ifndef IBEMU_CUSE_FUSE_CUSE_DEVICE_H_
#define IBEMU_CUSE_FUSE_CUSE_DEVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/timers.h"
#include "base/unique_fd.h"
#include "base/worker_pool.h"
#include "cuse/file.h"
#include "cuse/fuse/fuse_result.h"

namespace ibemu::cuse {

// Each open() of the device is a File, the same that FuseTree serves.
class CuseDevice {
 public:
  struct Identity {
    std::string name;  // below /dev: "infiniband/umad0"
    unsigned major_number = 0;
    unsigned minor_number = 0;
  };
  // Makes the File of an open() with `flags`; null: it fails with ENXIO, as a
  // device that was pulled out does.
  using Opener = std::function<std::unique_ptr<File>(int flags)>;

  // `timers` and `workers` must outlive the device.
  CuseDevice(Timers& timers, WorkerPool& workers, Identity identity,
             Opener opener);

  // Ends every open file, and the device node.  Clients see errors from then
  // on.
  ~CuseDevice();

  CuseDevice(const CuseDevice&) = delete;
  CuseDevice& operator=(const CuseDevice&) = delete;

  // Makes the device on an open /dev/cuse (or a socket that speaks its
  // protocol).  When it returns OK the node is there, as far as devtmpfs is
  // concerned; udev may still be at work.  Call once.
  //
  // Errors: AlreadyExists when the kernel refuses name or number.
  absl::Status Serve(UniqueFd cuse);

  // What the next open() gets.  Files that are open stay what they are.
  void SetOpener(Opener opener);

  // True when somebody has it open.
  bool in_use() const;

  // To be watched for readability; -1 before Serve().
  int fd() const;

  // Handles one request, without waiting for it.  After kEnded forget fd() and
  // destroy the device.
  [[nodiscard]] FuseResult HandleOne();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_CUSE_DEVICE_H_
