// CallGuard: the end of callbacks whose object has ended or begun anew.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_CALL_GUARD_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_CALL_GUARD_H_

#include <cstdint>
#include <memory>
#include <utility>

namespace ibemu::fabric {

// A CallGuard wraps callbacks of memory and timers.  Those that it wrapped
// before Invalidate(), or before it was destroyed, do nothing when they are
// called.
class CallGuard {
 public:
  // A point in the life of a guard.  It may outlive the guard.
  class Mark {
   public:
    // Returns true if the guard exists, and was not invalidated since.
    bool valid() const { return *count_ == then_; }

   private:
    friend class CallGuard;
    explicit Mark(std::shared_ptr<const uint64_t> count)
        : count_(std::move(count)), then_(*count_) {}

    std::shared_ptr<const uint64_t> count_;
    uint64_t then_;
  };

  CallGuard() = default;
  ~CallGuard() { Invalidate(); }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

  void Invalidate() { ++*count_; }
  Mark Now() const { return Mark(count_); }

  template <class Call>
  auto Wrap(Call call) const {
    return [mark = Now(), call = std::move(call)](auto&&... arguments) mutable {
      if (mark.valid()) call(std::forward<decltype(arguments)>(arguments)...);
    };
  }

 private:
  // How often it was invalidated.
  std::shared_ptr<uint64_t> count_ = std::make_shared<uint64_t>(0);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_CALL_GUARD_H_
