// MAD round trips, made as libibumad's users make them: write, poll, read.
//
//   umad_rate --outstanding=N --count=N            through libibumad
//   umad_rate --outstanding=N --count=N --file=F   the same system calls on F
//   umad_rate --seconds=N                          one at a time, for N seconds
//
// Prints the round trips per second.  With --seconds it prints their times
// instead: the median, the 99th percentile and the longest, in microseconds.
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kMadSize = 256;
constexpr int kTimeoutMs = 5000;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// A directed-route Get(NodeInfo) over one hop: the neighbour answers.
void FillRequest(uint8_t* mad, uint32_t tid) {
  std::memset(mad, 0, kMadSize);
  mad[0] = 1;
  mad[1] = 0x81;
  mad[2] = 1;
  mad[3] = 1;
  mad[7] = 1;  // hop count
  std::memcpy(mad + 12, &tid, sizeof tid);
  mad[17] = 0x11;
  std::memset(mad + 32, 0xff, 4);
  mad[129] = 1;  // initial path: out of port 1
}

// A way to send a request and to receive its answer.
struct Channel {
  std::function<void(uint32_t tid)> send;
  std::function<void()> receive;
};

Channel OpenUmad() {
  if (umad_init() < 0) Die("umad_init");
  const int port = umad_open_port(nullptr, 0);
  if (port < 0) Die("umad_open_port");
  const int agent = umad_register(port, 0x81, 1, 0, nullptr);
  if (agent < 0) Die("umad_register");
  void* const umad = umad_alloc(1, umad_size() + kMadSize);
  return {[=](uint32_t tid) {
            FillRequest(static_cast<uint8_t*>(umad_get_mad(umad)), tid);
            umad_set_addr(umad, 0xffff, 0, 0, 0);
            if (umad_send(port, agent, umad, kMadSize, kTimeoutMs, 0) < 0) {
              Die("umad_send");
            }
          },
          [=] {
            int length = kMadSize;
            if (umad_recv(port, umad, &length, kTimeoutMs) < 0)
              Die("umad_recv");
            if (umad_status(umad) != 0) Die("umad_status");
          }};
}

Channel OpenFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK);
  if (fd < 0) Die(path.c_str());
  static std::array<uint8_t, 64 + kMadSize> buffer;
  return {[=](uint32_t tid) {
            FillRequest(buffer.data() + 64, tid);
            if (write(fd, buffer.data(), buffer.size()) < 0) Die("write");
          },
          [=] {
            pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
            if (poll(&ready, 1, kTimeoutMs) != 1) Die("poll");
            if (read(fd, buffer.data(), buffer.size()) < 0) Die("read");
          }};
}

void PrintRate(const Channel& channel, int outstanding, int count) {
  const auto start = Clock::now();
  for (int sent = 0, received = 0; received < count; ++received) {
    while (sent < count && sent - received < outstanding) channel.send(++sent);
    channel.receive();
  }
  std::printf("%.0f\n", count / Seconds(Clock::now() - start).count());
}

void PrintTimes(const Channel& channel, double seconds) {
  std::vector<double> took;
  uint32_t tid = 0;
  for (const auto start = Clock::now();
       took.empty() || Seconds(Clock::now() - start).count() < seconds;) {
    const auto begin = Clock::now();
    channel.send(++tid);
    channel.receive();
    took.push_back(Seconds(Clock::now() - begin).count() * 1e6);
  }
  std::sort(took.begin(), took.end());
  std::printf("%.1f %.1f %.1f\n", took[took.size() / 2],
              took[took.size() * 99 / 100], took.back());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("MAD round trips per second");
  int outstanding = 1;
  int count = 100'000;
  double seconds = 0;
  std::string file;
  app.add_option("--outstanding", outstanding);
  app.add_option("--count", count);
  app.add_option("--seconds", seconds);
  app.add_option("--file", file);
  CLI11_PARSE(app, argc, argv);

  const Channel channel = file.empty() ? OpenUmad() : OpenFile(file);
  if (seconds > 0) {
    PrintTimes(channel, seconds);
  } else {
    PrintRate(channel, outstanding, count);
  }
}
