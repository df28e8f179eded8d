#include "cuse/client/mapped_range.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace ibemu::cuse {
namespace {

constexpr uint64_t kPage = 4096;

// A line of /proc/PID/maps; see proc(5).
struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;
  bool readable = false;
  bool writable = false;
  // True if only the kernel knows whether there is a page behind each address:
  // a mapping of a file, or one that a device or the kernel made ("[vvar]").
  bool backed = false;
};

bool ReadMapping(std::istream& maps, Mapping& mapping) {
  std::string line;
  std::array<char, 5> rights{};
  uint64_t inode = 0;
  if (!std::getline(maps, line) ||
      std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64,
                  &mapping.start, &mapping.end, rights.data(), &inode) != 4) {
    return false;
  }
  mapping.readable = rights[0] == 'r';
  mapping.writable = rights[1] == 'w';
  mapping.backed = inode != 0 || line.find(" [v") != std::string::npos;
  return true;
}

bool CanRead(pid_t process, uint64_t address) {
  char byte = 0;
  const iovec here = {&byte, 1};
  const iovec there = {reinterpret_cast<void*>(address), 1};
  return process_vm_readv(process, &here, 1, &there, 1, 0) == 1;
}

}  // namespace

absl::Status CheckMapped(pid_t process, uint64_t start, uint64_t length,
                         bool writable) {
  const auto nothing = [](uint64_t address) {
    return absl::DataLossError(
        absl::StrCat("no such page at 0x", absl::Hex(address)));
  };
  const uint64_t end = start + length;
  uint64_t next = start / kPage * kPage;  // all before it is mapped
  std::ifstream maps(absl::StrCat("/proc/", process, "/maps"));
  Mapping mapping;
  while (next < end) {
    if (!ReadMapping(maps, mapping)) return nothing(next);
    if (mapping.end <= next) continue;
    if (mapping.start > next ||
        !(writable ? mapping.writable : mapping.readable)) {
      return nothing(next);
    }
    next = mapping.end;
    // If a file lacks pages, then those at the end of the mapping.
    const uint64_t last = std::min(next, end) - 1;
    if (mapping.backed && !CanRead(process, last / kPage * kPage)) {
      return nothing(last);
    }
  }
  return absl::OkStatus();
}

}  // namespace ibemu::cuse
