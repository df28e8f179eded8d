// UverbsFile: an open uverbsN.
#ifndef IBEMU_CUSE_UVERBS_UVERBS_FILE_H_
#define IBEMU_CUSE_UVERBS_UVERBS_FILE_H_

#include <rdma/ib_user_verbs.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/worker_pool.h"
#include "cuse/client/client_memory.h"
#include "cuse/file.h"
#include "cuse/rings/ring_set.h"
#include "cuse/uverbs/uverbs_files.h"
#include "cuse/uverbs/uverbs_offers.h"
#include "cuse/uverbs/uverbs_rings.h"
#include "mad/host.h"
#include "verbs/uverbs/command.h"
#include "verbs/uverbs/context.h"

namespace ibemu::cuse {

// An open uverbsN.  Commands come by write().  Their answers go to the memory
// of the process that wrote, and only then does write() return.  The process
// that opened the file may have some commands answered in memory that it shares
// with us, too (kAttachRings).
class UverbsFile final : public File,
                         private verbs::ContextClient,
                         private UverbsRings::Owner {
 public:
  // Without `rings` no client can have some; in `uverbs_files`, if it is there,
  // the file is listed.  REQUIRES: `provider`, `timers`, `workers`, `rings` and
  // `uverbs_files` outlive this object.
  UverbsFile(std::shared_ptr<mad::Host> host, verbs::Provider& provider,
             verbs::AdapterIdentity identity, Timers& timers,
             WorkerPool& workers, std::shared_ptr<UverbsOffers> offers,
             std::shared_ptr<PinnedPages> pinned, RingSet* rings = nullptr,
             UverbsFiles* uverbs_files = nullptr);
  ~UverbsFile() override { *self_ = nullptr; }

  void Open(bool nonblock, OpenReply reply) override;
  void Read(bool nonblock, ReadReply reply) override;
  // A command names the place of its answer in the writer's memory.  Linux
  // requires the very same credentials (ib_safe_file_access()).
  bool IsForOpenerOnly() const override { return true; }
  // What the header of a command can tell: words of 8 bytes at most.
  LongestWrite longest_write() const override {
    return {UINT16_MAX * sizeof(uint64_t) + sizeof(ib_uverbs_cmd_hdr) +
                sizeof(ib_uverbs_ex_cmd_hdr),
            Errno::kInvalid};
  }
  bool MayBeCut(Bytes data) const override {
    return !verbs::ParseCommand(data).ok();
  }
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override;
  uint32_t Poll() override;
  // Carries out what the client has left in its rings, if it still may.
  void Close() override {
    if (rings_ != nullptr) rings_->CatchUp();
  }
  // Only reads of events can be interrupted.  All other requests that wait here
  // are being answered.
  void Interrupt(RequestId id) override { events_.Interrupt(id); }

  mad::Host& host() const { return *host_; }
  const verbs::Context& context() const { return context_; }
  // Returns how many commands were written by processes other than the one
  // that did GET_CONTEXT.
  uint64_t others_commands() const { return others_commands_; }

 private:
  // A command without an answer yet.
  struct Parked {
    WriteReply reply;
    size_t size;
    pid_t caller;
    std::optional<uint32_t> command{};  // its number, if it is one
    verbs::Answer answer{};
  };

  // Returns the descriptor for a queue of events.  Asynchronous events come
  // from this file itself if the client can't be given another one.
  absl::StatusOr<int> GiveDescriptor(
      Events events, pid_t caller,
      std::shared_ptr<verbs::EventQueue> queue) override;
  std::shared_ptr<verbs::Memory> MemoryOf(pid_t caller) override;
  verbs::ClientCompletions* CompletionsOf(uint32_t cq) override;
  verbs::ClientCompletions* PlaceFor(uint32_t cq) override;
  bool MayTake() override { return MayCommand(); }
  void OnCqGone(uint32_t cq) override;
  void OnArrival() override;
  void OnNoReceive() override;
  void OnPromise(uint32_t handle, const verbs::QpObject* qp) override;
  bool MayCommand() override;
  void PollTaken() override { context_.PollTaken(); }
  void Execute(size_t slot, Bytes command, std::optional<Bytes> data,
               bool awaited) override;
  Errno AttachRings(const IoctlRequest& ioctl);
  void OnHostChanged();
  ClientId ClientOfThread(pid_t tid);
  // Tells the list that the client gets an error, and returns its errno.
  Errno Refuse(std::optional<uint32_t> command, const absl::Status& status);
  void OnAnswer(uint64_t number, verbs::Answer answer);
  void OnResponseWritten(uint64_t number, bool written);

  std::shared_ptr<mad::Host> host_;
  Timers& timers_;
  WorkerPool& workers_;
  RingSet* const ring_set_;
  EventReader events_{[this] { NotifyEvents(); }};
  const std::shared_ptr<UverbsOffers> offers_;
  const std::shared_ptr<PinnedPages> pinned_;
  absl::flat_hash_map<pid_t, ClientId> clients_;
  absl::flat_hash_map<ClientId, std::shared_ptr<ClientMemory>> memories_;
  uint64_t last_ = 0;
  uint64_t others_commands_ = 0;
  absl::flat_hash_map<uint64_t, Parked> parked_;
  std::unique_ptr<UverbsRings> rings_;  // null unless the client has some
  uint64_t ring_process_ = 0;           // whose rings they are
  // Whether their client may still command, and when it could last.
  std::function<bool()> may_write_;
  absl::Time could_write_ = absl::InfinitePast();
  verbs::Context context_;
  // Finished jobs check this first; it points to null after the end.
  std::shared_ptr<UverbsFile*> self_ = std::make_shared<UverbsFile*>(this);
  std::unique_ptr<mad::Host::Subscription> watch_;
  std::optional<UverbsFiles::Entry> listed_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_UVERBS_FILE_H_
