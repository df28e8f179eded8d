// HostMemory: the host's memory, as the parts of the adapter access it.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_HOST_MEMORY_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_HOST_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/layout.h"

namespace ibemu::hca::model::mlx4 {

// Host memory by bus address.  Both functions return false, and copy nothing,
// if not all of the memory is mapped or if the function may not be bus master.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual bool Read(uint64_t address, std::span<std::byte> into) = 0;
  virtual bool Write(uint64_t address, std::span<const std::byte> from) = 0;
};

// Returns a wire structure as bytes.
template <wire::Structure T>
std::array<std::byte, wire::kBytes<T>> ToBytes(const T& value) {
  std::array<std::byte, wire::kBytes<T>> bytes;
  wire::Encode(value, bytes);
  return bytes;
}

// Read or write one wire structure at `address` of any object that has Read()
// and Write().
template <wire::Structure T, class Memory>
std::optional<T> ReadStructure(Memory& memory, uint64_t address) {
  std::array<std::byte, wire::kBytes<T>> bytes;
  if (!memory.Read(address, bytes)) return std::nullopt;
  return wire::Decode<T>(bytes);
}
template <wire::Structure T, class Memory>
bool WriteStructure(Memory& memory, uint64_t address, const T& value) {
  return memory.Write(address, ToBytes(value));
}

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_HOST_MEMORY_H_
