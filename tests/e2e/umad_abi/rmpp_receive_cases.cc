// Long messages in: a hand-made peer sends, the kernel receives.
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "rmpp_peer.h"

namespace umad_abi {
namespace {

// A request of the kernel's end that the peer answers at length.
struct Asked : RmppEnds {
  explicit Asked(int timeout_ms = 60'000) {
    kernel.Send(agent, {.timeout_ms = timeout_ms}, Mad(kSa, kGetTable, 1));
    request = raw.Next();
  }

  // Sends segment `number` of `count`; `length` where the RMPP header has one.
  void Segment(uint32_t number, uint32_t count, uint32_t last_length = 220,
               int version = 1) const {
    Bytes mad = request.mad;
    mad[kMethod] |= kResponse;
    mad[kSaHeader] = static_cast<uint8_t>(number);
    PutRmpp(mad, {.flags = kActive | (number == 1 ? kFirst : 0) |
                           (number == count ? kLast : 0),
                  .segment = number,
                  .length = number == count ? last_length
                            : number == 1   ? count * 220 - (220 - last_length)
                                            : 0,
                  .version = version});
    raw.Send(peer, {}, mad);
  }
  // What the kernel's end has said by now.
  std::string Said() const {
    std::string said;
    for (const Packet& packet : raw.Arrived()) {
      said += (said.empty() ? "" : " + ") + Describe(packet);
    }
    return said.empty() ? "silence" : said;
  }
  size_t Room(size_t data) const { return 64 + kSaHeader + data; }

  Packet request;
};

void Basic(Line& line) {
  const Asked asked;
  asked.Segment(1, 3, /*last_length=*/120);
  line.Say(asked.Said());
  asked.Segment(2, 3);
  line.Say(asked.Said());
  asked.Segment(3, 3, 120);
  line.Say(asked.Said());
  // SA: 20 bytes of each segment's 220 belong to the header.
  const size_t data = 2 * kSaData + 100;
  line.Say("room for 319", asked.kernel.Read(319).result);
  const Packet front = asked.kernel.Read(320);
  line.Say("320", front.result).Say("length", front.header.length);
  line.Say("byte of segment 1", front.mad.at(kSaHeader));
  line.Say("one too few", asked.kernel.Read(asked.Room(data) - 1).result);
  const Packet whole = asked.kernel.Read(asked.Room(data));
  line.Say("enough", whole.result).Say("length", whole.header.length);
  line.Say("segment 2", whole.mad.at(kSaHeader + kSaData));
  line.Say("segment 3", whole.mad.at(kSaHeader + 2 * kSaData));
}

void Single(Line& line) {
  for (const uint32_t length : {220U, 21U, 20U, 0U, 221U}) {
    const Asked asked;
    asked.Segment(1, 1, length);
    line.Say(std::to_string(length) + ": " + asked.Said());
    line.Say("read", asked.kernel.Next(1000).result);
  }
}

void WindowEnd(Line& line) {
  const Asked asked;
  asked.Segment(1, 200);
  line.Say(asked.Said());
  for (uint32_t n = 2; n <= 64; ++n) asked.Segment(n, 200);
  line.Say("64: " + asked.Said());
  asked.Segment(65, 200);
  line.Say("65: " + asked.Said());
  asked.Segment(130, 200);
  line.Say("beyond: " + asked.Said());
}

void OutOfOrder(Line& line) {
  const Asked asked;
  asked.Segment(1, 4);
  line.Say(asked.Said());
  asked.Segment(3, 4);
  asked.Segment(4, 4);
  line.Say("3, 4: " + asked.Said());
  asked.Segment(2, 4);
  line.Say("2: " + asked.Said());
  const Packet whole = asked.kernel.Next(asked.Room(4 * kSaData));
  line.Say("read", whole.result);
  std::string order;
  for (size_t i = 0; i < 4; ++i)
    order += std::to_string(whole.mad.at(kSaHeader + i * kSaData));
  line.Say(order);
}

void Duplicates(Line& line) {
  const Asked asked;
  asked.Segment(1, 3);
  line.Say(asked.Said());
  asked.Segment(1, 3);
  line.Say("1 again: " + asked.Said());
  asked.Segment(2, 3);
  asked.Segment(2, 3);
  line.Say("2 twice: " + asked.Said());
  asked.Segment(3, 3);
  line.Say("3: " + asked.Said());
  asked.Segment(3, 3);
  line.Say("3 again: " + asked.Said());
  line.Say("read", asked.kernel.Next(asked.Room(3 * kSaData)).result);
  line.Say("more", asked.kernel.Read().result);
}

void NoRequest(Line& line) {
  const Asked asked;
  asked.Segment(1, 1);
  asked.kernel.Next(1000);
  asked.raw.Arrived();
  asked.Segment(1, 3);
  line.Say(asked.Said());
  line.Say("told", static_cast<long>(asked.kernel.Arrived().size()));
}

// Part of the answer does not make the request wait longer.
void RequestTimeout(Line& line) {
  const Asked asked(/*timeout_ms=*/50);
  asked.Segment(1, 3);
  line.Say(Describe(asked.kernel.Next()));
  asked.raw.Arrived();
  asked.Segment(2, 3);
  line.Say("2: " + asked.Said());
}

void Malformed(Line& line) {
  struct Fault {
    const char* what;
    Rmpp rmpp;
  };
  const Fault faults[] = {
      {"not first", {.flags = kActive, .segment = 1, .length = 220}},
      {"first twice", {.flags = kActive | kFirst, .segment = 2, .length = 220}},
      {"version",
       {.flags = kActive | kFirst, .segment = 1, .length = 220, .version = 2}},
      {"status",
       {.flags = kActive | kFirst, .status = 7, .segment = 1, .length = 220}},
      {"type", {.type = 0, .flags = kActive | kFirst, .segment = 1}},
      {"segment 0", {.flags = kActive, .segment = 0, .length = 220}},
      {"begins with 2", {.flags = kActive, .segment = 2, .length = 0}}};
  for (const auto& [what, rmpp] : faults) {
    const Asked asked;
    Bytes mad = asked.request.mad;
    mad[kMethod] |= kResponse;
    PutRmpp(mad, rmpp);
    asked.raw.Send(asked.peer, {}, mad);
    line.Say(std::string(what) + ": " + asked.Said());
    line.Say("told", static_cast<long>(asked.kernel.Arrived().size()));
  }
}

// A request may be long, too: its receiver waits for nothing.
void Request(Line& line) {
  const RmppEnds ends;
  Bytes mad = Mad(kSa, kGetMulti, 9);
  for (uint32_t n = 1; n <= 2; ++n) {
    PutRmpp(mad, {.flags = kActive | (n == 1 ? kFirst : kLast),
                  .segment = n,
                  .length = n == 1 ? 440U : 220U});
    ends.raw.Send(ends.peer, {.timeout_ms = 60'000}, mad);
    line.Say(Describe(ends.Next()));
  }
  line.Say("read", ends.kernel.Next(1000).result);
}

// An agent that does RMPP itself reads and writes single packets.
void TellSingles(Line& line, const Wanted& wanted) {
  const Umad here(0);
  const Umad there(1);
  const int agent =
      wanted.flags != 0 ? here.Register2(wanted) : here.Register(wanted);
  there.Register({.mgmt_class = kSa, .version = 2, .methods = {kGetTable}});
  Bytes data = Mad(kSa, kGetTable, 1);
  PutRmpp(data, {.flags = kActive | kFirst, .segment = 1, .length = 660});
  line.Say("write", here.Send(agent, {.timeout_ms = 60'000}, data));
  line.Say("same TID", here.Send(agent, {}, data));
  Packet got = there.Next();
  line.Say(Describe(got));
  Bytes longer = data;
  longer.resize(257);
  line.Say("257 bytes", here.Send(agent, {}, longer));

  // Two packets of an answer, of which the request waits for one.
  const Umad sender(1);
  const int peer = sender.Register({});
  got.mad[kMethod] |= kResponse;
  for (uint32_t n = 1; n <= 2; ++n) {
    PutRmpp(got.mad, {.flags = kActive | (n == 1 ? kFirst : kLast),
                      .segment = n,
                      .length = n == 1 ? 440U : 220U});
    sender.Send(peer, {}, got.mad);
    const Packet read = here.Next();
    line.Say(Describe(read)).Say("read", read.result);
  }
  line.Say("ACKs", static_cast<long>(sender.Arrived().size()));
}

void UserRmpp(Line& line) {
  TellSingles(line, {.mgmt_class = kSa, .version = 2, .rmpp = 1, .flags = 1});
}
void NoRmpp(Line& line) {
  TellSingles(line, {.mgmt_class = kSa, .version = 2});
}

}  // namespace

std::vector<Case> RmppReceiveCases() {
  return {{"rmpp_recv_basic", Basic},
          {"rmpp_recv_single", Single},
          {"rmpp_recv_window", WindowEnd},
          {"rmpp_recv_order", OutOfOrder},
          {"rmpp_recv_dups", Duplicates},
          {"rmpp_recv_nomatch", NoRequest},
          {"rmpp_recv_req_timeout", RequestTimeout},
          {"rmpp_recv_malformed", Malformed},
          {"rmpp_recv_request", Request},
          {"user_rmpp", UserRmpp},
          {"rv0_active", NoRmpp}};
}

}  // namespace umad_abi
