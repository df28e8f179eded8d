// Descriptors of events that clients of uverbs have, without knowing it yet.
#ifndef IBEMU_CUSE_UVERBS_OFFERS_H_
#define IBEMU_CUSE_UVERBS_OFFERS_H_

#include <sys/types.h>

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cuse/event_reader.h"
#include "cuse/file.h"

namespace ibemu::cuse {

class UverbsEventFile;

// Two answers carry a new descriptor (GET_CONTEXT, CREATE_COMP_CHANNEL).  In a
// run a supervisor that sees such a command before we do opens the same inode
// again, read-only, puts what it got into the client and tells us for whose
// command it is: see daemon/node_supervisor.h.  Where there is none, the client
// is made to do so itself: see SystemUverbsFile.
//
// One for each inode: who opens a path at the same time as another may get the
// same one, so an inode does not tell contexts apart; a waiting thread does.
class UverbsOffers {
 public:
  // The event file for the command that `tid` waits in; null if there is none.
  UverbsEventFile* Take(pid_t tid);

  // The latest offer for a thread counts.
  void Offer(pid_t tid, UverbsEventFile& file) { offers_[tid] = &file; }
  // The file ends.
  void Withdraw(const UverbsEventFile& file);

 private:
  absl::flat_hash_map<pid_t, UverbsEventFile*> offers_;
};

// A descriptor from which events come, once a command has bound it to a queue.
class UverbsEventFile final : public File {
 public:
  // Who may say for whose command it is.
  enum class Teller {
    kSupervisor,  // that of the run to which the inode belongs
    kItself,      // each thread for itself: others share the inode
  };
  UverbsEventFile(std::shared_ptr<UverbsOffers> offers, Teller teller)
      : offers_(std::move(offers)), teller_(teller) {}
  ~UverbsEventFile() override { offers_->Withdraw(*this); }

  // What the client calls it.
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
  const std::shared_ptr<UverbsOffers> offers_;
  const Teller teller_;
  EventReader events_{[this] { NotifyEvents(); }};
  int number_ = -1;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_OFFERS_H_
