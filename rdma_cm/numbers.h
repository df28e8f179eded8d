// Numbers: objects under the lowest free numbers.
#ifndef IBEMU_RDMA_CM_NUMBERS_H_
#define IBEMU_RDMA_CM_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace ibemu::rdma_cm {

// A Numbers gives out the lowest free number, from 0 on, as an xarray of Linux
// does.
template <class T>
class Numbers {
 public:
  // Returns the number that Add() will give.
  uint32_t next() const {
    return free_.empty() ? static_cast<uint32_t>(all_.size()) : *free_.begin();
  }

  uint32_t Add(std::shared_ptr<T> object) {
    const uint32_t number = next();
    if (free_.empty()) {
      all_.push_back(std::move(object));
    } else {
      free_.erase(free_.begin());
      all_[number] = std::move(object);
    }
    return number;
  }

  void Remove(uint32_t number) {
    all_[number] = nullptr;
    free_.insert(number);
  }

  // Returns null if there is none.
  std::shared_ptr<T> Find(uint32_t number) const {
    return number < all_.size() ? all_[number] : nullptr;
  }

  // All numbers, some of them with null.
  const std::vector<std::shared_ptr<T>>& all() const { return all_; }

 private:
  std::vector<std::shared_ptr<T>> all_;
  std::set<uint32_t> free_;  // those with null
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_NUMBERS_H_
