// Long messages by kernel RMPP, from one write() to one read().
//
//   umad_message --serve                     answers; prints its LID when ready
//   umad_message --ask=LID --bytes=N --count=N
//
// Each answer carries the time at which its write() began.  The asker prints,
// for each answer, the megabytes (10^6 bytes) per second from that time to the
// end of its read().
#include <infiniband/umad.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kMadSize = 256;
constexpr int kTimeoutMs = 20'000;
constexpr int kSubnetAdministration = 3;
constexpr int kGetTable = 0x12;
constexpr int kResponse = 0x80;

// Offsets in a MAD of the class.  The data of a request begin with the length
// that the answer shall have, those of an answer with a time.
constexpr int kTid = 12, kRmpp = 24, kData = 56;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Returns nanoseconds on a clock that all processes share.
int64_t Now() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// An open port with an agent, and the buffer of its messages.
class Umad {
 public:
  explicit Umad(bool serves) {
    if (umad_init() < 0) Die("umad_init");
    port_ = umad_open_port(nullptr, 0);
    if (port_ < 0) Die("umad_open_port");
    long methods[16 / sizeof(long)]{};
    if (serves) methods[0] = 1L << kGetTable;
    agent_ = umad_register(port_, kSubnetAdministration, 2, 1, methods);
    if (agent_ < 0) Die("umad_register");
    MakeRoom(kMadSize);
  }

  // Makes room for messages of at least `bytes`, and touches the pages.
  void MakeRoom(int bytes) {
    const size_t size = umad_size() + static_cast<size_t>(bytes);
    if (buffer_.size() < size) buffer_.resize(size);
  }
  uint8_t* mad() { return static_cast<uint8_t*>(umad_get_mad(buffer_.data())); }
  int lid() const {
    umad_port_t port;
    if (umad_get_port(nullptr, 0, &port) < 0) Die("umad_get_port");
    return static_cast<int>(port.base_lid);
  }
  int source() { return be16toh(umad_get_mad_addr(buffer_.data())->lid); }

  // Both return a time: Send() that just before its system call, Receive() that
  // just after it.
  int64_t Send(int lid, int bytes, int timeout_ms) {
    umad_set_addr(buffer_.data(), lid, 1, 0, static_cast<int>(0x80010000));
    const int64_t now = Now();
    if ((mad()[3] & kResponse) != 0)
      std::memcpy(mad() + kData, &now, sizeof now);
    if (umad_send(port_, agent_, buffer_.data(), bytes, timeout_ms, 0) < 0) {
      Die("umad_send");
    }
    return now;
  }
  int64_t Receive(int timeout_ms) {
    int length = static_cast<int>(buffer_.size() - umad_size());
    if (umad_recv(port_, buffer_.data(), &length, timeout_ms) < 0) {
      Die("umad_recv");
    }
    return Now();
  }
  // Returns true if a message was received, and not the end of a send.
  bool received() { return umad_status(buffer_.data()) == 0; }

 private:
  int port_, agent_;
  std::vector<uint8_t> buffer_;
};

[[noreturn]] void Serve() {
  Umad umad(true);
  std::printf("%d\n", umad.lid());
  std::fflush(stdout);
  while (true) {
    umad.Receive(-1);
    if (!umad.received()) continue;  // the asker of the last one is gone
    int32_t bytes;
    std::memcpy(&bytes, umad.mad() + kData, sizeof bytes);
    umad.MakeRoom(bytes);
    umad.mad()[3] |= kResponse;
    umad.mad()[kRmpp] = 1;
    umad.mad()[kRmpp + 1] = 1;  // DATA
    umad.mad()[kRmpp + 2] = 1;  // active
    umad.Send(umad.source(), bytes, 0);
  }
}

void Ask(int lid, int32_t bytes, int count) {
  Umad umad(false);
  umad.MakeRoom(bytes);
  for (int32_t tid = 1; tid <= count; ++tid) {
    std::memset(umad.mad(), 0, kMadSize);
    umad.mad()[0] = 1;
    umad.mad()[1] = kSubnetAdministration;
    umad.mad()[2] = 2;
    umad.mad()[3] = kGetTable;
    std::memcpy(umad.mad() + kTid, &tid, sizeof tid);
    std::memcpy(umad.mad() + kData, &bytes, sizeof bytes);
    umad.Send(lid, kMadSize, kTimeoutMs);
    const int64_t end = umad.Receive(kTimeoutMs);
    if (!umad.received()) {
      std::fputs("no answer\n", stderr);
      std::exit(1);
    }
    int64_t begin;
    std::memcpy(&begin, umad.mad() + kData, sizeof begin);
    std::printf("%.1f\n", 1000. * bytes / static_cast<double>(end - begin));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("long messages by RMPP");
  int lid = 0, bytes = 16 << 20, count = 10;
  bool serve = false;
  app.add_flag("--serve", serve);
  app.add_option("--ask", lid);
  app.add_option("--bytes", bytes);
  app.add_option("--count", count);
  CLI11_PARSE(app, argc, argv);

  if (serve) Serve();
  Ask(lid, bytes, count);
}
