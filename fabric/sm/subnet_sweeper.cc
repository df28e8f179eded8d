#include "fabric/sm/subnet_sweeper.h"

#include <utility>

namespace ibemu::fabric {
namespace {

// The delay of a sweep: one cut raises traps of many switches, which need only
// one sweep.
constexpr absl::Duration kSettle = absl::Milliseconds(10);

}  // namespace

SubnetSweeper::SubnetSweeper(Subnet& subnet, Links& links, FabricEvents& events,
                             PortId home, SmElection& election,
                             ObserverList<SubnetObserver>& observers,
                             SweepHistory& sweeps, Timers& timers)
    : election_(election),
      observers_(observers),
      sweeps_(sweeps),
      timers_(timers),
      home_(home),
      configurer_(subnet, links, events, home) {}

SubnetSweeper::~SubnetSweeper() { timers_.Cancel(timer_); }

absl::Status SubnetSweeper::SweepAtOnce() {
  sweeps_.NoteWork(home_);
  working_ = true;
  absl::Status status = configurer_.Begin(true);
  while (status.ok() && !configurer_.Continue()) {
  }
  working_ = false;
  sweeps_.NoteWork(home_);
  return status;
}

void SubnetSweeper::OnMastership(bool is_master) {
  if (is_master) {
    anew_ = promoted_ = true;
    return Begin();
  }
  timers_.Cancel(std::exchange(timer_, TimerId::kNone));
  sweeping_ = false;
  // Observers that were never told of this mastership are not told of its end.
  if (!std::exchange(promoted_, false)) TellMastership(false);
}

void SubnetSweeper::Request() {
  if (!election_.IsMaster() || sweeping_ || timer_ != TimerId::kNone ||
      (changes_ == swept_changes_ && !anew_)) {
    return;
  }
  timer_ = timers_.RunAfter(kSettle, [this] { Begin(); });
}

bool SubnetSweeper::CountChange() {
  if (working_) return false;
  ++changes_;
  return true;
}

void SubnetSweeper::Begin() {
  timers_.Cancel(std::exchange(timer_, TimerId::kNone));
  swept_changes_ = changes_;
  election_.CountAction();
  sweeps_.NoteWork(home_);
  working_ = true;
  const absl::Status status = configurer_.Begin(anew_);
  working_ = false;
  // There are more ports than LIDs: the subnet stays as it is until the next
  // change.
  if (!status.ok()) return;
  anew_ = false;
  Continue();
}

void SubnetSweeper::Continue() {
  timer_ = TimerId::kNone;
  working_ = true;
  sweeping_ = !configurer_.Continue();
  working_ = false;
  sweeps_.NoteWork(home_);
  if (!sweeping_) return End();
  timer_ = timers_.RunAt(timers_.Now(), [this] { Continue(); });
}

void SubnetSweeper::End() {
  if (std::exchange(promoted_, false)) {
    TellMastership(true);
  } else if (!configurer_.came().empty() || !configurer_.went().empty()) {
    observers_.ForEach([&](SubnetObserver& observer) {
      observer.OnPorts(configurer_.came(), configurer_.went());
    });
  }
  Request();           // for what has happened meanwhile
  election_.AskAll();  // there may be new paths to other managers
}

void SubnetSweeper::TellMastership(bool is_master) {
  observers_.ForEach(
      [&](SubnetObserver& observer) { observer.OnMastership(is_master); });
}

}  // namespace ibemu::fabric
