// RdmaCmFile: an open rdma_cm.
#ifndef IBEMU_CUSE_RDMA_CM_RDMA_CM_FILE_H_
#define IBEMU_CUSE_RDMA_CM_RDMA_CM_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/worker_pool.h"
#include "cuse/file.h"
#include "cuse/rdma_cm/parked_event_calls.h"
#include "cuse/rdma_cm/rdma_cm_commands.h"
#include "rdma_cm/channel.h"
#include "rdma_cm/rdma_cm_view.h"

namespace ibemu::cuse {

// An open rdma_cm.  Commands come by write(), and their answers go to the
// memory of the process that wrote, before write() returns.  GET_EVENT waits in
// its write() until there is an event, while other threads write: the front end
// must allow for that (FOPEN_PARALLEL_DIRECT_WRITES).
class RdmaCmFile final : public File {
 public:
  // All opens of a view have one `view`.  REQUIRES: `workers` outlives this
  // object.
  RdmaCmFile(std::shared_ptr<rdma_cm::RdmaCmView> view, WorkerPool& workers);
  ~RdmaCmFile() override;

  // Answers when the interfaces of the view are up, or have existed for a
  // second, or have no link: on Linux they were up before any program started.
  void Open(bool nonblock, OpenReply reply) override;
  void Read(bool nonblock, ReadReply reply) override;
  // A command names the place of its answer in the writer's memory.
  bool IsForOpenerOnly() const override { return true; }
  LongestWrite longest_write() const override;
  bool MayBeCut(Bytes data) const override;
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override;
  uint32_t Poll() override;
  // Only GET_EVENTs can be interrupted.  All other commands that wait here are
  // being answered.
  void Interrupt(RequestId id) override { waiting_.Interrupt(id); }

 private:
  class UpCount;

  // A command that is being answered.
  struct Pending {
    WriteReply reply;
    size_t size = 0;
    pid_t caller = 0;
    RdmaCmCommands::Answer answer{};
  };

  void LearnUser(pid_t caller);
  void GetEvent(Bytes body, size_t out, bool nonblock, EventCall call);
  void DeliverEvents();
  void Deliver(EventCall call, rdma_cm::QueuedEvent event);
  void ReadData(Pending pending);
  void Respond(Pending pending);
  // What follows once a client's memory was accessed, or could not be.
  using Then = absl::AnyInvocable<void(bool done)>;
  void WriteToClient(pid_t caller, uint64_t address,
                     std::vector<std::byte> bytes, Then then);
  // Runs `access`, which returns whether it could be done, and owns what it
  // touches.
  void RunForClient(pid_t caller, std::function<bool()> access, Then then);

  const std::shared_ptr<rdma_cm::RdmaCmView> view_;
  WorkerPool& workers_;
  rdma_cm::Channel channel_;
  RdmaCmCommands commands_{channel_};
  ParkedEventCalls waiting_;
  std::shared_ptr<UpCount> opening_;  // null unless open() waits
  uint64_t last_step_ = 0;
  // What waits for jobs, with its replies: these end with the file.
  absl::flat_hash_map<uint64_t, Then> steps_;
  // Finished jobs check this first; it points to null after the end.
  std::shared_ptr<RdmaCmFile*> self_ = std::make_shared<RdmaCmFile*>(this);
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_RDMA_CM_FILE_H_
