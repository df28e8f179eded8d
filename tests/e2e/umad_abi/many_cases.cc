// Numbers: agents, outstanding sends, long messages.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
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

// Both ends leave RMPP to the kernel; the receiver reads what was written.
void LongMessages(Line& line) {
  const Umad here(0);
  const Umad there(1);
  const int sender =
      here.Register({.mgmt_class = kSa, .version = 2, .rmpp = 1});
  there.Register(
      {.mgmt_class = kSa, .version = 2, .methods = {kGetMulti}, .rmpp = 1});
  uint64_t tid = 1;
  for (const size_t bytes :
       {1U, 199U, 200U, 201U, 4096U, 130'000U, 1U << 20, 16U << 20}) {
    const Bytes message = SaMessage(kGetMulti, tid++, bytes);
    const int written = here.Send(sender, {.timeout_ms = 0}, message);
    const Packet read = there.Next(64 + message.size() + 256);
    const bool intact = read.mad.size() == message.size() &&
                        std::equal(message.begin() + kSaHeader, message.end(),
                                   read.mad.begin() + kSaHeader);
    line.Say(std::to_string(bytes) +
             (written == static_cast<int>(64 + message.size())
                  ? ""
                  : " short write") +
             (intact ? " intact" : " damaged"));
  }
}

}  // namespace

std::vector<Case> ManyCases() {
  return {{"many_agents", ManyAgents},
          {"many_outstanding", ManyOutstanding},
          {"many_segments", LongMessages}};
}

}  // namespace umad_abi
