// CuseDevice: a character device for the whole machine.
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

// A character device.  Each open() of it gives a File, as in a FuseTree.
class CuseDevice {
 public:
  struct Identity {
    std::string name;  // below /dev: "infiniband/umad0"
    unsigned major_number = 0;
    unsigned minor_number = 0;
  };
  // Makes the File of an open() with `flags`.  If it returns null, the open()
  // fails with ENXIO, as that of a removed device does.
  using Opener = std::function<std::unique_ptr<File>(int flags)>;

  // REQUIRES: `timers` and `workers` outlive the device.
  CuseDevice(Timers& timers, WorkerPool& workers, Identity identity,
             Opener opener);

  // Ends every open file, and removes the device node.  Clients see errors from
  // then on.
  ~CuseDevice();

  CuseDevice(const CuseDevice&) = delete;
  CuseDevice& operator=(const CuseDevice&) = delete;

  // Makes the device on an open /dev/cuse (or a socket that speaks its
  // protocol).  When this returns OK the node exists in devtmpfs, but udev may
  // still be at work.  REQUIRES: called once.
  //
  // Errors: AlreadyExists if the kernel refuses the name or the number.
  absl::Status Serve(UniqueFd cuse);

  // Sets the opener of later open() calls.  Open files are not affected.
  void SetOpener(Opener opener);

  // True if a client has the device open.
  bool in_use() const;

  // The descriptor to watch for readability; -1 before Serve().
  int fd() const;

  // Handles one request, and returns at once if there is none.  After kEnded
  // the caller must forget fd() and destroy the device.
  [[nodiscard]] FuseResult HandleOne();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_CUSE_DEVICE_H_
