// QpLife: the time between two resets of a queue pair.
#ifndef IBEMU_HCA_MLX4_VERBS_QP_LIFE_H_
#define IBEMU_HCA_MLX4_VERBS_QP_LIFE_H_

#include <cstdint>
#include <memory>
#include <utility>

namespace ibemu::hca::mlx4 {

// A guard for calls that come later, from memory or timers: they do nothing if
// the queue pair has ended, or was reset, since.
class QpLife {
 public:
  QpLife() = default;
  ~QpLife() { End(); }
  QpLife(const QpLife&) = delete;
  QpLife& operator=(const QpLife&) = delete;

  // Wraps `call` so that it does nothing after the next BeginAnew() or End().
  template <class Call>
  auto WhileSame(Call call) {
    return [self = self_, number = number_,
            call = std::move(call)](auto&&... arguments) mutable {
      if (*self == nullptr || (*self)->number_ != number) return;
      call(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  void BeginAnew() { ++number_; }
  void End() { *self_ = nullptr; }

 private:
  uint64_t number_ = 0;
  std::shared_ptr<QpLife*> self_ = std::make_shared<QpLife*>(this);
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_QP_LIFE_H_
