// A list of observers that may change while they are being called.
#ifndef IBEMU_BASE_OBSERVER_LIST_H_
#define IBEMU_BASE_OBSERVER_LIST_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ibemu {

// An ObserverList holds pointers to observers, which it does not own, in the
// order in which they were added.
template <class Observer>
class ObserverList {
 public:
  // Returns true when there is no observer.  Cheap, for hot paths.
  bool empty() const { return all_.empty(); }

  void Add(Observer& observer) { all_.push_back(&observer); }

  // Removes an observer that was added before.  It may be in a call at this
  // moment.
  void Remove(const Observer& observer) {
    const auto place = std::find(all_.begin(), all_.end(), &observer);
    if (depth_ == 0) {
      all_.erase(place);
    } else {
      *place = nullptr;
    }
  }

  // Calls call(observer) for each observer that is in the list now and still is
  // when its turn comes.  `call` may add and remove any observer, and may call
  // ForEach() again; the list must outlive the call.
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
  std::vector<Observer*> all_;  // null: removed during a call
  int depth_ = 0;               // of nested ForEach() calls
};

}  // namespace ibemu

#endif  // IBEMU_BASE_OBSERVER_LIST_H_
