// The time that one write() to a FUSE file takes.  Prints the median in
// microseconds.
//
//   fuse_write FILE
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  constexpr int kCount = 20000;
  const int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
  if (fd < 0) {
    std::perror("fuse_write FILE");
    return 1;
  }
  using Clock = std::chrono::steady_clock;
  const std::array<char, 100> command{};
  std::vector<std::chrono::duration<double, std::micro>> times;
  for (int i = 0; i < kCount; ++i) {
    const Clock::time_point began = Clock::now();
    if (write(fd, command.data(), command.size()) < 0) {
      std::perror("write");
      return 1;
    }
    times.emplace_back(Clock::now() - began);
  }
  std::nth_element(times.begin(), times.begin() + kCount / 2, times.end());
  std::printf("%.2f\n", times[kCount / 2].count());
  return 0;
}
