// Numbers: agents, outstanding sends, long messages.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rmpp_peer.h"

namespace umad_abi {
namespace {

void ManyAgents(Line& line) {
  constexpr int kFiles = 200;
  std::vector<std::unique_ptr<Umad>> files;
  long agents = 0;
  for (int i = 0; i < kFiles; ++i) {
    files.push_back(std::make_unique<Umad>(0));
    for (int n = 0; n < 32; ++n) agents += files.back()->Register({}) == n;
  }
  line.Say("agents", agents);
  long answered = 0;
  for (const auto& file : files) {
    for (const int agent : {0, 31}) {
      file->Send(agent, {.timeout_ms = 20'000}, Mad(kPerf, kGet, 1, 1));
      answered += file->Next().header.id == static_cast<uint32_t>(agent);
    }
  }
  line.Say("answers", answered);
}

void ManyOutstanding(Line& line) {
  constexpr uint64_t kCount = 5000;
  const Umad here(0);
  const int agent = here.Register({});
  long written = 0;
  for (uint64_t tid = 1; tid <= kCount; ++tid) {
    written += here.Send(agent, {.lid = 0x1234, .timeout_ms = 100},
                         Mad(kPerf, kGet, tid, 1)) == 320;
  }
  long ended = 0;
  for (uint64_t tid = 1; tid <= kCount; ++tid) {
    const Packet packet = here.Next();
    ended +=
        packet.header.status == ETIMEDOUT && (packet.tid() & 0xffff) == tid;
  }
  line.Say("written", written).Say("timed out in order", ended);
  line.Say("more", here.Read().result);
}

bool IsCopy(const Bytes& read, const Bytes& written) {
  return read.size() == written.size() &&
         std::equal(written.begin() + kSaHeader, written.end(),
                    read.begin() + kSaHeader);
}

// Both ends leave RMPP to the kernel.
struct LongEnds {
  Umad here{0};
  Umad there{1};
  int sender = here.Register({.mgmt_class = kSa, .version = 2, .rmpp = 1});
  int receiver = there.Register(
      {.mgmt_class = kSa, .version = 2, .methods = {kGetMulti}, .rmpp = 1});
};

// An ACK may be late where much else is going on.
constexpr To kPatient{.retries = 5};

// The receiver reads what was written.
void LongMessages(Line& line) {
  const LongEnds ends;
  uint64_t tid = 1;
  for (const size_t bytes :
       {1U, 199U, 200U, 201U, 4096U, 130'000U, 1U << 20, 16U << 20}) {
    const Bytes message = SaMessage(kGetMulti, tid++, bytes);
    const int written = ends.here.Send(ends.sender, kPatient, message);
    const Packet read = ends.there.Next(64 + message.size() + 256);
    const bool intact = IsCopy(read.mad, message);
    line.Say(std::to_string(bytes) +
             (written == static_cast<int>(64 + message.size())
                  ? ""
                  : " short write") +
             (intact ? " intact" : " damaged"));
  }
}

// Data that tell which message they are of.
Bytes Marked(uint64_t tid, size_t bytes) {
  Bytes message = SaMessage(kGetMulti, tid, bytes);
  for (size_t i = kSaHeader; i < message.size(); ++i) {
    message[i] = static_cast<uint8_t>(message[i] + tid);
  }
  return message;
}

// Threads write to one descriptor at the same time, more than a request of FUSE
// holds.
void Writers(Line& line) {
  constexpr int kEach = 5;
  constexpr size_t kBytes = 1'200'000;
  const LongEnds ends;
  long written = 0;
  const auto write = [&](uint64_t first_tid, long& whole) {
    for (uint64_t tid = first_tid; tid < first_tid + kEach; ++tid) {
      const Bytes message = Marked(tid, kBytes);
      whole += ends.here.Send(ends.sender, kPatient, message) ==
               static_cast<int>(64 + message.size());
    }
  };
  long others = 0;
  std::thread other([&] { write(100, others); });
  write(1, written);
  other.join();
  long intact = 0;
  for (int i = 0; i < 2 * kEach; ++i) {
    const Packet read = ends.there.Next(64 + kSaHeader + kBytes);
    intact +=
        read.ok() && IsCopy(read.mad, Marked(read.tid() & 0xffffffff, kBytes));
  }
  line.Say("written", written + others).Say("intact", intact);
}

}  // namespace

std::vector<Case> ManyCases() {
  return {{"many_agents", ManyAgents},
          {"many_outstanding", ManyOutstanding},
          {"many_segments", LongMessages},
          {"many_writers", Writers}};
}

}  // namespace umad_abi
