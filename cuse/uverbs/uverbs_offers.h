// UverbsOffers: event descriptors that clients of uverbs have, but do not know
// of yet.
#ifndef IBEMU_CUSE_UVERBS_UVERBS_OFFERS_H_
#define IBEMU_CUSE_UVERBS_UVERBS_OFFERS_H_

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cuse/file.h"
#include "cuse/uverbs/event_reader.h"

namespace ibemu::cuse {

class UverbsEventFile;

// The event files that processes have been offered.  Two answers carry a new
// descriptor (GET_CONTEXT, CREATE_COMP_CHANNEL).  In a run, a supervisor puts
// some into a process that opens a device, and as many as were used whenever
// the process makes a completion queue, and tells us: see
// launch/supervisor/node_supervisor.h.  It must not stop the commands
// themselves: seccomp sees only their size, which REQ_NOTIFY_CQ has, too, and a
// signal that comes while a call is stopped ends it with EINTR, which no Linux
// driver returns for these commands.  Where there is no supervisor, the thread
// itself is made to open an event file while its command waits: see
// SystemUverbsFile.
class UverbsOffers {
 public:
  // The number that a process has at once: one for asynchronous events, four
  // for channels that are made before any completion queue.
  static constexpr size_t kEnough = 5;

  bool HasEnough(pid_t client) const;

  // Removes and returns the oldest event file of `client`, which is a thread or
  // a process; null if there is none.
  UverbsEventFile* Take(pid_t client);

  void Offer(pid_t client, UverbsEventFile& file);
  // Called when the file ends.
  void Withdraw(const UverbsEventFile& file);

 private:
  absl::flat_hash_map<pid_t, std::deque<UverbsEventFile*>> offers_;
};

// A descriptor that delivers events, once a command has bound it to a queue.
class UverbsEventFile final : public File {
 public:
  // `supervisor` is the user who may speak for other processes, as root may.
  // If empty, each thread speaks for itself.
  UverbsEventFile(std::shared_ptr<UverbsOffers> offers,
                  std::optional<uid_t> supervisor)
      : offers_(std::move(offers)), supervisor_(supervisor) {}
  ~UverbsEventFile() override { offers_->Withdraw(*this); }

  // The number of the descriptor in the client.
  int number() const { return number_; }
  void Bind(std::shared_ptr<verbs::EventQueue> queue) {
    events_.Bind(std::move(queue));
  }

  void Open(bool nonblock, OpenReply reply) override;
  void Read(bool nonblock, ReadReply reply) override;
  void Write(Written data, WriteReply reply) override;
  void Ioctl(const IoctlRequest& request, IoctlReply reply) override;
  uint32_t Poll() override { return events_.Poll(); }
  void Interrupt(RequestId id) override { events_.Interrupt(id); }

 private:
  bool MayTellOfOthers(const IoctlRequest& request) const;
  Errno AskForRoom(const IoctlRequest& request) const;
  Errno SetNumber(const IoctlRequest& request);

  const std::shared_ptr<UverbsOffers> offers_;
  const std::optional<uid_t> supervisor_;
  EventReader events_{[this] { NotifyEvents(); }};
  int number_ = -1;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_UVERBS_OFFERS_H_
