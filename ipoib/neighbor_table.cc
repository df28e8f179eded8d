#include "ipoib/neighbor_table.h"

#include <utility>

namespace ibemu::ipoib {
namespace {

constexpr absl::Duration kFirstPause = absl::Seconds(1);
constexpr absl::Duration kLongestPause = absl::Seconds(16);
constexpr int kFirstPauses = 3;
constexpr absl::Duration kKnownFor = absl::Seconds(60);

// Returns the pause after a question that was asked `asked` times.
absl::Duration PauseAfter(int asked) {
  absl::Duration pause = kFirstPause;
  for (int i = kFirstPauses; i < asked && pause < kLongestPause; ++i) {
    pause *= 2;
  }
  return pause;
}

}  // namespace

struct NeighborTable::Waiter : std::enable_shared_from_this<Waiter> {
  wire::IpAddress address;
  Done done;
  TimerId deadline = TimerId::kNone;
  NeighborTable* table = nullptr;  // null: waits no more
};

class NeighborTable::Handle final : public Resolution {
 public:
  explicit Handle(std::shared_ptr<Waiter> waiter)
      : waiter_(std::move(waiter)) {}
  ~Handle() override {
    if (waiter_->table != nullptr) waiter_->table->Remove(*waiter_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  const std::shared_ptr<Waiter> waiter_;
};

NeighborTable::NeighborTable(Timers& timers, Asker& asker)
    : timers_(timers), asker_(asker) {}

NeighborTable::~NeighborTable() {
  for (auto& [address, question] : questions_) {
    timers_.Cancel(question.repeat);
    for (Waiter* const waiter : question.waiters) {
      timers_.Cancel(waiter->deadline);
      waiter->table = nullptr;
    }
  }
}

std::unique_ptr<Resolution> NeighborTable::Answer(
    absl::StatusOr<HardwareAddress> answer, Done done) {
  auto waiter = std::make_shared<Waiter>();
  waiter->done = std::move(done);
  Tell(*waiter, std::move(answer));
  return std::make_unique<Handle>(std::move(waiter));
}

std::unique_ptr<Resolution> NeighborTable::Resolve(
    const wire::IpAddress& address, absl::Duration timeout, Done done) {
  std::erase_if(known_, [now = timers_.Now()](const auto& entry) {
    return entry.second.until <= now;
  });
  if (const auto known = known_.find(address); known != known_.end()) {
    return Answer(known->second.hardware, std::move(done));
  }
  if (questions_.size() >= kMaxQuestions && !questions_.contains(address)) {
    return Answer(absl::ResourceExhaustedError("too many others are asked for"),
                  std::move(done));
  }
  auto waiter = std::make_shared<Waiter>();
  waiter->address = address;
  waiter->done = std::move(done);
  waiter->deadline = timers_.RunAfter(timeout, [this, waiter = waiter.get()] {
    Tell(*waiter, absl::DeadlineExceededError("nobody answered"));
    Remove(*waiter);
  });
  Add(*waiter);
  return std::make_unique<Handle>(std::move(waiter));
}

void NeighborTable::Add(Waiter& waiter) {
  waiter.table = this;
  const auto [question, is_new] = questions_.try_emplace(waiter.address);
  question->second.waiters.push_back(&waiter);
  if (is_new) {
    Ask(waiter.address);
  } else {
    AskSoon(waiter.address);
  }
}

void NeighborTable::Remove(Waiter& waiter) {
  waiter.table = nullptr;
  timers_.Cancel(waiter.deadline);
  const auto question = questions_.find(waiter.address);
  std::erase(question->second.waiters, &waiter);
  if (!question->second.waiters.empty()) return;
  timers_.Cancel(question->second.repeat);
  questions_.erase(question);
  asker_.StopAsking(waiter.address);
}

void NeighborTable::Ask(const wire::IpAddress& address) {
  Question& question = questions_.at(address);
  timers_.Cancel(question.repeat);
  question.last_asked = timers_.Now();
  question.repeat = timers_.RunAfter(PauseAfter(++question.asked),
                                     [this, address] { Ask(address); });
  asker_.Ask(address);
}

// Asks for one more who waits, and who may not have the time of a long pause,
// but no more than once in a short one.
void NeighborTable::AskSoon(const wire::IpAddress& address) {
  Question& question = questions_.at(address);
  timers_.Cancel(question.repeat);
  question.asked = 0;
  question.repeat = timers_.RunAt(question.last_asked + kFirstPause,
                                  [this, address] { Ask(address); });
}

void NeighborTable::AskAgain() {
  for (auto& [address, question] : questions_) {
    question.asked = 0;
    Ask(address);
  }
}

void NeighborTable::Learn(const wire::IpAddress& address,
                          const HardwareAddress& hardware) {
  const auto question = questions_.find(address);
  if (question == questions_.end() && !known_.contains(address)) return;
  known_[address] = {.hardware = hardware, .until = timers_.Now() + kKnownFor};
  if (question == questions_.end()) return;
  for (Waiter* const waiter : std::vector<Waiter*>(question->second.waiters)) {
    Tell(*waiter, hardware);
    Remove(*waiter);
  }
}

void NeighborTable::Fail(const absl::Status& why) {
  std::vector<Waiter*> waiters;
  for (const auto& [address, question] : questions_) {
    waiters.insert(waiters.end(), question.waiters.begin(),
                   question.waiters.end());
  }
  for (Waiter* const waiter : waiters) {
    Tell(*waiter, why);
    Remove(*waiter);
  }
}

// Tells it soon, so that whatever `done` destroys is in no call.
void NeighborTable::Tell(Waiter& waiter,
                         absl::StatusOr<HardwareAddress> answer) {
  timers_.RunSoon([weak = waiter.weak_from_this(), answer = std::move(answer)] {
    const auto told = weak.lock();
    if (told == nullptr) return;  // cancelled
    Done done = std::move(told->done);
    done(answer);
  });
}

}  // namespace ibemu::ipoib
