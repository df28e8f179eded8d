// The input of a fuzzer.
#ifndef IBEMU_TESTING_FUZZ_INPUT_H_
#define IBEMU_TESTING_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mad/address.h"

namespace ibemu::testing {

// A FuzzInput gives a fuzzer's bytes from front to back.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }

  // Takes `count` bytes, or as many as are left.
  mad::Bytes Take(size_t count) {
    count = std::min(count, size_);
    const mad::Bytes taken(reinterpret_cast<const std::byte*>(data_), count);
    data_ += count;
    size_ -= count;
    return taken;
  }

  // Take an integer, in network order.  Zeros follow after the end.
  uint8_t Byte() {
    const mad::Bytes one = Take(1);
    return one.empty() ? uint8_t{0} : std::to_integer<uint8_t>(one[0]);
  }
  uint16_t Short() {
    const unsigned high = Byte();
    return static_cast<uint16_t>(high << 8 | Byte());
  }
  // Takes a MAD: at most `most` bytes, then zeros.
  mad::MadBytes Mad(size_t most = mad::MadBytes{}.size()) {
    mad::MadBytes mad{};
    std::ranges::copy(Take(std::min(most, mad.size())), mad.begin());
    return mad;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_FUZZ_INPUT_H_
