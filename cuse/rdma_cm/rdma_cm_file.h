// RdmaCmFile: an open rdma_cm.
#ifndef IBEMU_CUSE_RDMA_CM_RDMA_CM_FILE_H_
#define IBEMU_CUSE_RDMA_CM_RDMA_CM_FILE_H_

#include <memory>

#include "base/timers.h"
#include "base/worker_pool.h"
#include "cuse/file.h"
#include "rdma_cm/view.h"

namespace ibemu::cuse {

// An open rdma_cm.  Commands come by write(), and their answers go to the
// memory of the process that wrote, before write() returns.  GET_EVENT waits in
// its write() until there is an event, while other threads write.
class RdmaCmFile final : public File {
 public:
  // All opens of a view have one `view`.  REQUIRES: `timers` and `workers`
  // outlive this object.
  RdmaCmFile(std::shared_ptr<rdma_cm::View> view, Timers& timers,
             WorkerPool& workers);
  ~RdmaCmFile() override;

  void Open(bool nonblock, OpenReply reply) override;
  void Read(bool nonblock, ReadReply reply) override;
  bool IsForOpenerOnly() const override { return true; }
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override;
  uint32_t Poll() override;
  void Interrupt(RequestId id) override;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_RDMA_CM_FILE_H_
