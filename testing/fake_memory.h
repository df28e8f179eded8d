// A stand-in for the memory of a process.
#ifndef IBEMU_TESTING_FAKE_MEMORY_H_
#define IBEMU_TESTING_FAKE_MEMORY_H_

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/timers.h"
#include "verbs/memory.h"

namespace ibemu::testing {

// A FakeMemory is the memory of a process that does not exist.  Its addresses
// begin at kStart; what lies outside can't be reached.
class FakeMemory : public verbs::Memory {
 public:
  static constexpr uint64_t kStart = 0x10000;

  // Pages that nobody writes to cost nothing: most tests use few of many.  One
  // byte more, since there is no mapping of none.
  FakeMemory(Timers& timers, size_t size)
      : timers_(timers),
        pages_(mmap(nullptr, size + 1, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        bytes_(static_cast<std::byte*>(pages_), size) {
    if (pages_ == MAP_FAILED) std::abort();
  }
  ~FakeMemory() override { munmap(pages_, bytes_.size() + 1); }
  FakeMemory(const FakeMemory&) = delete;
  FakeMemory& operator=(const FakeMemory&) = delete;

  uint64_t process() const override { return process_; }

  void PinPages(uint64_t start, uint64_t length, bool writable,
                Pinned done) override {
    struct CountedPin : Pin {
      explicit CountedPin(int& count) : pins(count) { ++pins; }
      ~CountedPin() override { --pins; }
      int& pins;
    };
    pins_wanted_writable.push_back(writable);
    timers_.RunSoon([this, start, length, done = std::move(done)]() mutable {
      const uint64_t offset = start - kStart;
      if (start < kStart || length > bytes_.size() - offset) {
        return done(absl::DataLossError("nothing there"));
      }
      done(std::make_unique<CountedPin>(pins));
    });
  }
  void Read(std::vector<verbs::MemoryPiece> pieces, Done done) override {
    Run(false, std::move(pieces), std::move(done));
  }
  void Write(std::vector<verbs::MemoryPiece> pieces, Done done) override {
    Run(true, std::move(pieces), std::move(done));
  }

  void Put(size_t offset, std::string_view text) {
    std::ranges::copy(std::as_bytes(std::span(text)),
                      At(offset, text.size()).begin());
  }
  void PutValue(size_t offset, uint64_t value) {
    std::memcpy(At(offset, sizeof value).data(), &value, sizeof value);
  }
  uint64_t Value(size_t offset) const {
    uint64_t value = 0;
    std::memcpy(&value, At(offset, sizeof value).data(), sizeof value);
    return value;
  }
  std::string Text(size_t offset, size_t size) const {
    const std::span<std::byte> bytes = At(offset, size);
    std::string text(size, '\0');
    std::ranges::transform(bytes, text.begin(),
                           [](std::byte b) { return char(b); });
    return text;
  }

  // Sets how long each Read() or Write() takes, after those before it.
  void SetDelay(absl::Duration delay) { delay_ = delay; }

  int calls = 0;
  int pins = 0;                          // that exist now
  size_t waiting = 0, most_waiting = 0;  // bytes to be written
  std::vector<bool> pins_wanted_writable;

 private:
  // A number that no other one has.
  static uint64_t NextProcess() {
    static uint64_t last = 0;
    return ++last;
  }

  std::span<std::byte> At(size_t offset, size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) std::abort();
    return bytes_.subspan(offset, size);
  }

  void Run(bool write, std::vector<verbs::MemoryPiece> pieces, Done done) {
    ++calls;
    size_t size = 0;
    for (const verbs::MemoryPiece& piece : pieces) {
      if (write) size += piece.size;
    }
    waiting += size;
    most_waiting = std::max(most_waiting, waiting);
    InTurn([this, write, size, pieces = std::move(pieces),
            done = std::move(done)]() mutable {
      waiting -= size;
      absl::Status status;
      for (const verbs::MemoryPiece& piece : pieces) {
        const uint64_t offset = piece.address - kStart;
        if (piece.address < kStart || offset + piece.size > bytes_.size()) {
          status = absl::DataLossError("nothing there");
          break;
        }
        std::byte* const here = piece.buffer->data() + piece.offset;
        std::byte* const there = bytes_.data() + offset;
        std::copy_n(write ? here : there, piece.size, write ? there : here);
      }
      done(status);
    });
  }

  void InTurn(Timers::Task task) {
    const absl::Time start = std::max(timers_.Now(), free_at_);
    if (delay_ == absl::ZeroDuration() && start == timers_.Now()) {
      return timers_.RunSoon(std::move(task));
    }
    free_at_ = start + delay_;
    timers_.RunAt(free_at_, std::move(task));
  }

  const uint64_t process_ = NextProcess();
  Timers& timers_;
  void* const pages_;
  const std::span<std::byte> bytes_;
  absl::Duration delay_ = absl::ZeroDuration();
  absl::Time free_at_ = absl::InfinitePast();
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_FAKE_MEMORY_H_
