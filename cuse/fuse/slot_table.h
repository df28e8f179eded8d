// SlotTable: objects by small numbers, which a front end uses as file handles.
#ifndef IBEMU_CUSE_FUSE_SLOT_TABLE_H_
#define IBEMU_CUSE_FUSE_SLOT_TABLE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ibemu::cuse {

// A table of objects.  Numbers are reused, the last freed first.
template <class T>
class SlotTable {
 public:
  uint64_t Add(std::unique_ptr<T> object) {
    if (free_.empty()) {
      slots_.push_back(std::move(object));
      return slots_.size() - 1;
    }
    const uint64_t number = free_.back();
    free_.pop_back();
    slots_[number] = std::move(object);
    return number;
  }

  bool empty() const { return slots_.size() == free_.size(); }

  // Returns null if there is none.
  T* Find(uint64_t number) const {
    return number < slots_.size() ? slots_[number].get() : nullptr;
  }

  // Removes and returns the object; null if there is none.
  std::unique_ptr<T> Remove(uint64_t number) {
    if (Find(number) == nullptr) return nullptr;
    free_.push_back(number);
    return std::move(slots_[number]);
  }

  // Destroys all objects, which are no longer in the table when they end.
  void Clear() {
    const auto ending = std::exchange(slots_, {});
    free_.clear();
  }

 private:
  std::vector<std::unique_ptr<T>> slots_;
  std::vector<uint64_t> free_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_SLOT_TABLE_H_
