// Timeouts, retries, and how close() ends them.
#include <endian.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "cases.h"

namespace umad_abi {
namespace {

constexpr int kNowhere = 0x1234;

void TimeoutPacket(Line& line) {
  const Umad here(0);
  const int agent = here.Register({});
  ib_user_mad_hdr header = HeaderFor(
      agent, {.lid = kNowhere, .qpn = 1, .timeout_ms = 5, .retries = 1});
  header.length = 4711;
  header.sl = 3;
  here.Write(header, Mad(kPerf, kGet, 0xabcd, 0x12));
  line.Say("room for 87", here.Next(87).result);
  const Packet packet = here.Read(88);
  line.Say("for 88", packet.result)
      .Say("status", -static_cast<long>(packet.header.status));
  line.Say("id", packet.header.id).Say("length", packet.header.length);
  line.Say("timeout_ms", packet.header.timeout_ms);
  line.Say("retries", packet.header.retries).Say("sl", packet.header.sl);
  line.Say("lid", be16toh(packet.header.lid));
  line.Say("qkey", be32toh(packet.header.qkey));
  line.Say("low TID", static_cast<long>(packet.tid() & 0xffffffff));
  line.Say(packet.tid() >> 32 == 0 ? "high half as written"
                                   : "high half replaced");
  line.Say("attribute", static_cast<long>(Get(packet.mad, kAttributeId, 2)));
}

void TimeoutPacketOld(Line& line) {
  const Umad here(0, O_RDWR | O_NONBLOCK, /*old_header=*/true);
  here.Send(here.Register({}), {.lid = kNowhere, .timeout_ms = 5},
            Mad(kPerf, kGet, 1, 0x12));
  line.Say("room for 79", here.Next(79).result)
      .Say("for 80", here.Read(80).result);
}

void Retries(Line& line) {
  const Umad here(0);
  const Umad there(1);
  there.Register({.mgmt_class = kVendor, .methods = {kSend}, .oui = kOui});
  const int agent = here.Register({});
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  here.Send(agent, {.timeout_ms = 20, .retries = 3}, Mad(kVendor, kSend, 1));
  const Packet end = here.Next();
  const auto took = Clock::now() - begin;
  line.Say("then", -static_cast<long>(end.header.status));
  line.Say(took >= std::chrono::milliseconds(80)
               ? "not before (retries + 1) x timeout"
               : "too early");
  const std::vector<Packet> arrived = there.Arrived();
  line.Say("arrived", static_cast<long>(arrived.size()));
  long same = 0;
  for (const Packet& packet : arrived) same += packet.mad == arrived[0].mad;
  line.Say("identical", same).Say("more", here.Read().result);
}

// Retries need a timeout: one MAD, and no word of its end.
void Timeout0(Line& line) {
  const Umad here(0);
  const Umad there(1);
  there.Register({.mgmt_class = kVendor, .methods = {kSend}, .oui = kOui});
  const int agent = here.Register({});
  here.Send(agent, {.timeout_ms = 0, .retries = 5}, Mad(kVendor, kSend, 1));
  here.Send(agent, {.lid = kNowhere, .timeout_ms = 30}, Mad(kVendor, kSend, 2));
  line.Say("the only end is of TID",
           static_cast<long>(here.Next().tid() & 0xffff));
  line.Say("more", here.Read().result);
  line.Say("arrived", static_cast<long>(there.Arrived().size()));
}

void TimeoutOrder(Line& line) {
  const Umad here(0);
  const int agent = here.Register({});
  int tid = 0;
  for (const int timeout_ms : {2000, 200, 1000}) {
    here.Send(agent, {.lid = kNowhere, .timeout_ms = timeout_ms},
              Mad(kPerf, kGet, static_cast<uint64_t>(++tid)));
  }
  for (int i = 0; i < 3; ++i) {
    line.Say("TID", static_cast<long>(here.Next().tid() & 0xffff));
  }
}

// An answer after the timeout is nobody's.
void LateAnswer(Line& line) {
  const Umad here(0);
  const Umad there(1);
  const int answerer =
      there.Register({.mgmt_class = kVendor, .methods = {kGet}, .oui = kOui});
  here.Send(here.Register({}), {.timeout_ms = 10}, Mad(kVendor, kGet, 1));
  line.Say("first", -static_cast<long>(here.Next().header.status));
  Bytes answer = there.Next().mad;
  answer[kMethod] |= kResponse;
  there.Send(answerer, {}, answer);
  line.Say("then", static_cast<long>(here.Arrived().size()));
}

void CloseOutstanding(Line& line) {
  using Clock = std::chrono::steady_clock;
  Umad here(0);
  const int agent = here.Register({});
  for (uint64_t tid = 1; tid <= 100; ++tid) {
    here.Send(agent, {.lid = kNowhere, .timeout_ms = 60'000, .retries = 9},
              Mad(kPerf, kGet, tid));
  }
  const auto begin = Clock::now();
  here.Close();
  line.Say(Clock::now() - begin < std::chrono::seconds(20) ? "at once"
                                                           : "it waited");
}

}  // namespace

std::vector<Case> TimeoutCases() {
  return {{"timeout_packet", TimeoutPacket},
          {"timeout_packet_old", TimeoutPacketOld},
          {"retries", Retries},
          {"timeout0", Timeout0},
          {"timeout_order", TimeoutOrder},
          {"timeout_late_answer", LateAnswer},
          {"close_outstanding", CloseOutstanding}};
}

}  // namespace umad_abi
