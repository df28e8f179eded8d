// A fuzzer's bytes, taken from the front.
#ifndef IBEMU_TESTING_FUZZ_INPUT_H_
#define IBEMU_TESTING_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mad/address.h"

namespace ibemu::testing {

class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }

  // As many of `count` as there are.
  mad::Bytes Take(size_t count) {
    count = std::min(count, size_);
    const mad::Bytes taken(reinterpret_cast<const std::byte*>(data_), count);
    data_ += count;
    size_ -= count;
    return taken;
  }

  // Zeros after the end.
  uint8_t Byte() {
    const mad::Bytes one = Take(1);
    return one.empty() ? uint8_t{0} : std::to_integer<uint8_t>(one[0]);
  }
  uint16_t Short() {
    const unsigned high = Byte();
    return static_cast<uint16_t>(high << 8 | Byte());
  }
  // At most `most` bytes of a MAD, then zeros.
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
