// Objects by the handles that a client has for them.
#ifndef IBEMU_VERBS_UVERBS_HANDLE_TABLE_H_
#define IBEMU_VERBS_UVERBS_HANDLE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ibemu::verbs {

// A HandleTable owns objects and gives each a handle.  A handle consists of a
// slot's number and how often that slot was used before, so that the handle of
// a destroyed object does not soon name another one.
template <class T>
class HandleTable {
 public:
  // Adds an object and returns its handle.
  uint32_t Add(std::unique_ptr<T> object) {
    size_t place = 0;
    if (free_.empty()) {
      place = slots_.size();
      slots_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
    }
    slots_[place].object = std::move(object);
    ++size_;
    return HandleOf(place);
  }

  // Returns the object of `handle`, or null.
  T* Find(uint32_t handle) const {
    const size_t place = PlaceOf(handle);
    if (place >= slots_.size() || HandleOf(place) != handle) return nullptr;
    return slots_[place].object.get();
  }

  // Removes and returns the object of `handle`; null if there is none.
  std::unique_ptr<T> Remove(uint32_t handle) {
    if (Find(handle) == nullptr) return nullptr;
    const size_t place = PlaceOf(handle);
    Slot& slot = slots_[place];
    ++slot.uses;
    --size_;
    free_.push_back(place);
    return std::move(slot.object);
  }

  size_t size() const { return size_; }

  // Returns where an object is: in the order of ForEach(), and until it ends.
  static constexpr uint32_t PlaceOf(uint32_t handle) {
    return handle & kPlaces;
  }

  // Calls call(handle, object) for each object, in the order of their places.
  template <class Call>
  void ForEach(Call call) const {
    for (size_t place = 0; place < slots_.size(); ++place) {
      const T* const object = slots_[place].object.get();
      if (object != nullptr) call(HandleOf(place), *object);
    }
  }

 private:
  // Room for more objects of one kind than any device has (see Provider's
  // limits).
  static constexpr int kPlaceBits = 20;
  static constexpr uint32_t kPlaces = (1u << kPlaceBits) - 1;

  struct Slot {
    std::unique_ptr<T> object;
    uint32_t uses = 0;
  };
  uint32_t HandleOf(size_t place) const {
    return slots_[place].uses << kPlaceBits | static_cast<uint32_t>(place);
  }

  std::vector<Slot> slots_;
  std::vector<size_t> free_;
  size_t size_ = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_HANDLE_TABLE_H_
