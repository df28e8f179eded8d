// What write() takes, and what becomes of TIDs.
#include <endian.h>

#include <cstdio>
#include <string>

#include "cases.h"
#include "vendor_ends.h"

namespace umad_abi {
namespace {

struct Ends : VendorEnds {
  Ends() : VendorEnds({kGet, kSend}) {}
};

void TidHigh(Line& line) {
  const Ends ends;
  const int next = ends.here.Register({});
  uint32_t high[2];
  for (int i = 0; i < 2; ++i) {
    ends.here.Send(i == 0 ? ends.sender : next, {},
                   Mad(kVendor, kSend, 0x1122334455667788));
    const uint64_t tid = ends.there.Next().tid();
    high[i] = static_cast<uint32_t>(tid >> 32);
    line.Say("low", static_cast<long>(tid & 0xffffffff));
    line.Say(high[i] == 0x11223344 ? "high kept" : "high replaced");
    line.Say((high[i] >> 24) == 0 ? "24 bits" : "32 bits");
  }
  line.Say("the next agent's is more by", high[1] - high[0]);
  const Umad other(0);
  other.Send(other.Register({}), {}, Mad(kVendor, kSend, 1));
  line.Say("another file's by",
           static_cast<long>((ends.there.Next().tid() >> 32) - high[1]));
}

void TidOfResponse(Line& line) {
  const Ends ends;
  ends.here.Send(ends.sender, {.timeout_ms = 10'000}, Mad(kVendor, kGet, 9));
  Bytes answer = ends.there.Next().mad;
  const uint64_t asked = Get(answer, kTid, 8);
  answer[kMethod] |= kResponse;
  ends.there.Send(ends.receiver, {}, answer);
  line.Say(ends.here.Next().tid() == asked ? "kept" : "changed");
}

void DuplicateTid(Line& line) {
  const Ends ends;
  const To to{.timeout_ms = 10'000};
  line.Say("first", ends.here.Send(ends.sender, to, Mad(kVendor, kGet, 1)));
  line.Say("same", ends.here.Send(ends.sender, to, Mad(kVendor, kGet, 1)));
  line.Say("other method",
           ends.here.Send(ends.sender, to, Mad(kVendor, kSend, 1)));
  To elsewhere = to;
  elsewhere.lid = 0x1234;
  line.Say("other destination",
           ends.here.Send(ends.sender, elsewhere, Mad(kVendor, kGet, 1)));
  line.Say("timeout 0", ends.here.Send(ends.sender, {}, Mad(kVendor, kGet, 1)));
  line.Say("other high half",
           ends.here.Send(ends.sender, to, Mad(kVendor, kGet, 5ULL << 32 | 1)));
  line.Say("other class",
           ends.here.Send(ends.sender, to, Mad(kBaseboard, kSend, 1)));
  line.Say("other TID", ends.here.Send(ends.sender, to, Mad(kVendor, kGet, 2)));
  const int second = ends.here.Register({});
  line.Say("other agent", ends.here.Send(second, to, Mad(kVendor, kGet, 1)));
}

void DuplicateAfterEnd(Line& line) {
  const Ends ends;
  for (int i = 0; i < 2; ++i) {
    line.Say("timeout 0",
             ends.here.Send(ends.sender, {}, Mad(kVendor, kSend, 1)));
  }
  ends.here.Send(ends.sender, {.lid = 0x1234, .timeout_ms = 10},
                 Mad(kVendor, kGet, 2));
  ends.here.WaitReadable();
  line.Say("its timeout unread",
           ends.here.Send(ends.sender, {.timeout_ms = 10'000},
                          Mad(kVendor, kGet, 2)));
}

void DuplicateResponse(Line& line) {
  const Ends ends;
  const Bytes answer = Mad(kVendor, kGet | kResponse, 0x1200000001);
  const To to{.timeout_ms = 3000};
  line.Say("response", ends.here.Send(ends.sender, to, answer));
  line.Say("same", ends.here.Send(ends.sender, to, answer));
  line.Say(
      "other LID",
      ends.here.Send(ends.sender, {.lid = 0x1234, .timeout_ms = 3050}, answer));
  line.Say("request of that TID",
           ends.here.Send(ends.sender, {}, Mad(kVendor, kSend, 1)));
  for (int i = 0; i < 2; ++i) {
    const Packet packet = ends.here.Next();
    line.Say("then", -static_cast<long>(packet.header.status));
  }
}

void WriteLengths(Line& line) {
  const Ends ends;
  struct Limits {
    int mgmt_class;
    std::vector<size_t> sizes;
  };
  for (const auto& [mgmt_class, sizes] :
       {Limits{kPerf, {35, 36, 255, 256, 257, 512}},
        Limits{kVendor, {36, 39, 40}}, Limits{kSa, {36, 55, 56, 256, 257}},
        Limits{0x06, {63, 64}}, Limits{0x12, {63, 64}}}) {
    char name[16];
    std::snprintf(name, sizeof name, "class %02x", mgmt_class);
    line.Say(name);
    for (const size_t size : sizes) {
      Bytes mad = Mad(mgmt_class, kSend, 1);
      mad.resize(size);
      line.Say(std::to_string(size), ends.here.Send(ends.sender, {}, mad));
    }
  }
}

void ShortIsPadded(Line& line) {
  const Ends ends;
  Bytes mad = Mad(kVendor, kSend, 1);
  mad.resize(100, 0);
  mad[99] = 0x77;
  ends.here.Send(ends.sender, {}, mad);
  const Packet packet = ends.there.Next();
  line.Say("read", packet.result).Say("at 99", packet.mad.at(99));
  long sum = 0;
  for (size_t i = 100; i < packet.mad.size(); ++i) sum += packet.mad[i];
  line.Say("sum of the rest", sum);
}

void HeaderFieldsIgnored(Line& line) {
  const Ends ends;
  ib_user_mad_hdr header = HeaderFor(ends.sender, {.lid = LidOf(1)});
  header.qkey = 0;
  header.status = 99;
  header.length = 7;
  line.Say("write", ends.here.Write(header, Mad(kVendor, kSend, 1)));
  const Packet packet = ends.there.Next();
  line.Say("read", packet.result).Say("status", packet.header.status);
}

void DestinationQpn(Line& line) {
  const Ends ends;
  line.Say("qpn 5", ends.here.Send(ends.sender, {.qpn = 5, .timeout_ms = 20},
                                   Mad(kVendor, kSend, 1)));
  line.Say("then", -static_cast<long>(ends.here.Next().header.status));
  line.Say("arrived", static_cast<long>(ends.there.Arrived().size()));
}

void RmppAgentOtherClass(Line& line) {
  const Umad here(0);
  for (const uint32_t user : {0U, 1U}) {
    const int agent = here.Register2(
        {.mgmt_class = kSa, .version = 2, .rmpp = 1, .flags = user});
    line.Say(user == 0 ? "kernel RMPP" : "user RMPP");
    line.Say("PerfMgt", here.Send(agent, {}, Mad(kPerf, kGet, 1, 1)));
    line.Say("SA", here.Send(agent, {}, Mad(kSa, kGet, 2)));
  }
  const int only_sends = here.Register({.rmpp = 1});
  line.Say("class 0: PerfMgt",
           here.Send(only_sends, {}, Mad(kPerf, kGet, 1, 1)));
}

void OtherClassOfOne(Line& line) {
  const Umad here(0);
  const int agent =
      here.Register({.mgmt_class = kBaseboard, .methods = {kGet}});
  line.Say("PerfMgt",
           here.Send(agent, {.timeout_ms = 10'000}, Mad(kPerf, kGet, 1, 1)));
  line.Say("answer", here.Next().result);
}

void Burst(Line& line) {
  const Ends ends;
  constexpr int kCount = 1000;
  int written = 0;
  for (int tid = 1; tid <= kCount; ++tid) {
    written +=
        ends.here.Send(ends.sender, {},
                       Mad(kVendor, kSend, static_cast<uint64_t>(tid))) == 320;
  }
  long in_order = 0;
  for (int tid = 1; tid <= kCount; ++tid) {
    in_order +=
        (ends.there.Next().tid() & 0xffff) == static_cast<uint64_t>(tid);
  }
  line.Say("written", written).Say("read in order", in_order);
}

}  // namespace

std::vector<Case> SendCases() {
  return {{"tid_hi", TidHigh},
          {"tid_of_response", TidOfResponse},
          {"dup_tid", DuplicateTid},
          {"dup_after_tmo0", DuplicateAfterEnd},
          {"dup_response", DuplicateResponse},
          {"write_lengths", WriteLengths},
          {"write_lengths_padding", ShortIsPadded},
          {"qkey_ignored", HeaderFieldsIgnored},
          {"dest_qpn", DestinationQpn},
          {"rmpp_agent_nonrmpp_class", RmppAgentOtherClass},
          {"class_unregistered_send", OtherClassOfOne},
          {"burst", Burst}};
}

}  // namespace umad_abi
