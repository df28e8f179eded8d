#include "verbs/parts/bounce_buffers.h"

#include <mutex>
#include <utility>
#include <vector>

namespace ibemu::verbs {

class BounceBuffers::Shelf {
 public:
  using Bytes = std::unique_ptr<std::vector<std::byte>>;

  Bytes Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!chunks_.empty()) {
        Bytes chunk = std::move(chunks_.back());
        chunks_.pop_back();
        return chunk;
      }
    }
    return std::make_unique<std::vector<std::byte>>(kChunk);
  }

  void PutBack(Bytes chunk) {
    const std::lock_guard lock(mutex_);
    if (chunks_.size() < kMax) chunks_.push_back(std::move(chunk));
  }

 private:
  static constexpr size_t kMax = 16;

  std::mutex mutex_;
  std::vector<Bytes> chunks_;
};

BounceBuffers::BounceBuffers() : shelf_(std::make_shared<Shelf>()) {}

verbs::Buffer BounceBuffers::Take(size_t size) {
  if (size != kChunk) return std::make_shared<std::vector<std::byte>>(size);
  return {shelf_->Take().release(),
          [shelf = shelf_](std::vector<std::byte>* bytes) {
            shelf->PutBack(Shelf::Bytes(bytes));
          }};
}

}  // namespace ibemu::verbs
