#include "hca/remote/vtd_walker.h"

#include <utility>

namespace ibemu::hca::remote {
namespace {

constexpr uint32_t kTranslationEnabled = uint32_t{1} << 31;  // GSTS.TES
constexpr uint64_t kTableMode = 0xc00;  // RTADDR.TTM: 0 is legacy mode
constexpr uint64_t kPageMask = ~uint64_t{0xfff};

// A root or context entry has 16 bytes.
constexpr uint64_t kEntrySize = 16;
constexpr uint64_t kPresent = 1;
constexpr int kTypeShift = 2;  // context entry, translation type
constexpr uint64_t kTypeMask = 3;
constexpr uint64_t kPassThrough = 2;
constexpr uint64_t kWidthMask = 7;  // 1: 39 bits, 3 levels; 2: 48 bits, 4

// The bits of a second-level page-table entry.
constexpr uint64_t kReadable = 1;
constexpr uint64_t kWritable = 2;
constexpr uint64_t kSuperpage = 0x80;
constexpr int kPageShift = 12;
constexpr int kLevelShift = 9;  // 512 entries of 8 bytes

}  // namespace

VtdWalker::VtdWalker(uint8_t bus, uint8_t devfn, ReadWord read)
    : bus_(bus), devfn_(devfn), read_(std::move(read)) {}

bool VtdWalker::Enabled(const VtdRegisters& registers) {
  return (registers.status & kTranslationEnabled) != 0;
}

std::optional<VtdWalker::Translation> VtdWalker::Translate(
    const VtdRegisters& registers, uint64_t address, bool write) {
  const Translation same = {address, ~address | 1};
  if (!Enabled(registers)) return same;
  if ((registers.root_address & kTableMode) != 0) return std::nullopt;
  const std::optional<uint64_t> root =
      read_((registers.root_address & kPageMask) + bus_ * kEntrySize);
  if (!root || (*root & kPresent) == 0) return std::nullopt;
  const uint64_t entry = (*root & kPageMask) + devfn_ * kEntrySize;
  const std::optional<uint64_t> low = read_(entry);
  const std::optional<uint64_t> high = read_(entry + 8);
  if (!low || !high || (*low & kPresent) == 0) return std::nullopt;
  if ((*low >> kTypeShift & kTypeMask) == kPassThrough) return same;
  const int levels = static_cast<int>(*high & kWidthMask) + 2;
  return Walk(*low & kPageMask, levels, address, write);
}

std::optional<VtdWalker::Translation> VtdWalker::Walk(uint64_t table,
                                                      int levels,
                                                      uint64_t address,
                                                      bool write) {
  const int width = kPageShift + levels * kLevelShift;
  if (width < 64 && address >> width != 0) return std::nullopt;
  for (int level = levels; level > 0; --level) {
    const int shift = kPageShift + (level - 1) * kLevelShift;
    if (shift >= 64) return std::nullopt;
    const uint64_t index = address >> shift & 0x1ff;
    const std::optional<uint64_t> entry = read_(table + index * 8);
    if (!entry || (*entry & (write ? kWritable : kReadable)) == 0) {
      return std::nullopt;
    }
    if (level == 1 || (*entry & kSuperpage) != 0) {
      const uint64_t page = uint64_t{1} << shift;
      const uint64_t within = address & (page - 1);
      const uint64_t bits = *entry & ((uint64_t{1} << 52) - 1);
      return Translation{(bits & ~(page - 1)) + within, page - within};
    }
    table = *entry & ((uint64_t{1} << 52) - 1) & kPageMask;
  }
  return std::nullopt;
}

}  // namespace ibemu::hca::remote
