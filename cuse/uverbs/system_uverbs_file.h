// SystemUverbsFile: an open uverbsN where no supervisor gives descriptors to
// clients.
#ifndef IBEMU_CUSE_UVERBS_SYSTEM_UVERBS_FILE_H_
#define IBEMU_CUSE_UVERBS_SYSTEM_UVERBS_FILE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/worker_pool.h"
#include "cuse/file.h"

namespace ibemu::cuse {

// A UverbsFile for which commands that answer with a new descriptor arrive
// twice.  The first time, a worker stops the thread by ptrace, and the write()
// is answered with EINTR.  Before the thread sees that, it is made to open an
// event file (UverbsOffers) and to write again: InjectEventFile().
//
// A client that can't be stopped, because another process traces it or the
// machine is no x86-64, gets what UverbsFile gives without an offer.
class SystemUverbsFile final : public File, private File::Listener {
 public:
  // REQUIRES: `workers` outlives this object.
  SystemUverbsFile(std::unique_ptr<File> file, WorkerPool& workers);
  ~SystemUverbsFile() override { *self_ = nullptr; }

  void Open(bool nonblock, OpenReply reply) override {
    file_->Open(nonblock, std::move(reply));
  }
  void Read(bool nonblock, ReadReply reply) override {
    file_->Read(nonblock, std::move(reply));
  }
  bool IsForOpenerOnly() const override { return file_->IsForOpenerOnly(); }
  LongestWrite longest_write() const override { return file_->longest_write(); }
  bool MayBeCut(Bytes data) const override { return file_->MayBeCut(data); }
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override {
    file_->Ioctl(request, std::move(reply));
  }
  uint32_t Poll() override { return file_->Poll(); }
  void Close() override { file_->Close(); }
  void Interrupt(RequestId id) override { file_->Interrupt(id); }

 private:
  struct Parked {
    Written data;
    WriteReply reply;
  };

  void OnEvents() override { NotifyEvents(); }
  void GiveEventFile(Written data, WriteReply reply);
  void WriteAgain(uint64_t number);
  void OnJobDone(uint64_t number, pid_t tid, bool writes_again);

  std::unique_ptr<File> file_;
  WorkerPool& workers_;
  uint64_t last_ = 0;
  absl::flat_hash_map<uint64_t, Parked> parked_;
  // Threads whose next command repeats one that they wrote before.
  absl::flat_hash_set<pid_t> repeating_;
  // Finished jobs check this first; it points to null after the end.
  std::shared_ptr<SystemUverbsFile*> self_ =
      std::make_shared<SystemUverbsFile*>(this);
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_SYSTEM_UVERBS_FILE_H_
