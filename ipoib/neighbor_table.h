// NeighborTable: the neighbours of an interface, known and asked for.
#ifndef IBEMU_IPOIB_NEIGHBOR_TABLE_H_
#define IBEMU_IPOIB_NEIGHBOR_TABLE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "ipoib/interface.h"
#include "ipoib/wire/hardware_address.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

// A NeighborTable repeats a question after 1, 1, 1, 2, 4 to 16 s until it is
// answered or nobody waits any more, and knows an answer for a minute.
class NeighborTable {
 public:
  class Asker {
   public:
    // Asks for the neighbour with `address`, if that can be done now.
    virtual void Ask(const wire::IpAddress& address) = 0;
    // Nobody waits for it any more.
    virtual void StopAsking(const wire::IpAddress& address) = 0;

   protected:
    ~Asker() = default;
  };
  using Done = absl::AnyInvocable<void(absl::StatusOr<HardwareAddress>)>;

  // How many neighbours are asked for at a time: a program that asks for a
  // whole network shall not flood it.
  static constexpr size_t kMaxQuestions = 1024;

  // Both must outlive this.
  NeighborTable(Timers& timers, Asker& asker);
  ~NeighborTable();
  NeighborTable(const NeighborTable&) = delete;
  NeighborTable& operator=(const NeighborTable&) = delete;

  // As Link::Resolve().  The resolution may outlive this.
  std::unique_ptr<Resolution> Resolve(const wire::IpAddress& address,
                                      absl::Duration timeout, Done done);

  // Returns a resolution that is answered at once.
  std::unique_ptr<Resolution> Answer(absl::StatusOr<HardwareAddress> answer,
                                     Done done);

  // Takes what a neighbour said of itself, if somebody wanted to know.
  void Learn(const wire::IpAddress& address, const HardwareAddress& hardware);

  // Forgets what is known.
  void Forget() { known_.clear(); }

  // Asks all open questions at once.
  void AskAgain();

  // Ends all open questions.
  void Fail(const absl::Status& why);

 private:
  struct Waiter;
  class Handle;
  struct Known {
    HardwareAddress hardware;
    absl::Time until;
  };
  struct Question {
    TimerId repeat = TimerId::kNone;
    int asked = 0;  // how often, for whoever waits for it last
    absl::Time last_asked = absl::InfinitePast();
    std::vector<Waiter*> waiters;
  };

  void Ask(const wire::IpAddress& address);
  void AskSoon(const wire::IpAddress& address);
  void Add(Waiter& waiter);
  void Remove(Waiter& waiter);
  void Tell(Waiter& waiter, absl::StatusOr<HardwareAddress> answer);

  Timers& timers_;
  Asker& asker_;
  std::map<wire::IpAddress, Known> known_;
  std::map<wire::IpAddress, Question> questions_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NEIGHBOR_TABLE_H_
