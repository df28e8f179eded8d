// Those who want to be called, and may come and go while they are.
#ifndef IBEMU_BASE_OBSERVER_LIST_H_
#define IBEMU_BASE_OBSERVER_LIST_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ibemu {

// Pointers, not owned, in the order of their coming.
template <class Observer>
class ObserverList {
 public:
  // True when there is nobody to call: cheap, for hot paths.
  bool empty() const { return all_.empty(); }

  void Add(Observer& observer) { all_.push_back(&observer); }

  // Requires an earlier Add().  The observer may be in a call.
  void Remove(const Observer& observer) {
    const auto place = std::find(all_.begin(), all_.end(), &observer);
    if (depth_ == 0) {
      all_.erase(place);
    } else {
      *place = nullptr;
    }
  }

  // Calls call(observer) for each one that is there now and still is when its
  // turn comes.  `call` may add and remove any, and call this again; the list
  // must outlive it.
  template <class Call>
  void ForEach(Call&& call) {
    ++depth_;
    const size_t count = all_.size();
    for (size_t i = 0; i < count; ++i) {
      if (all_[i] != nullptr) call(*all_[i]);
    }
    if (--depth_ == 0) std::erase(all_, nullptr);
  }

 private:
  std::vector<Observer*> all_;  // null: gone during a call
  int depth_ = 0;               // of calls within calls
};

}  // namespace ibemu

#endif  // IBEMU_BASE_OBSERVER_LIST_H_
