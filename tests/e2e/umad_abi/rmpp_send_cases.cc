// Long messages out: the kernel sends, a hand-made peer receives.
#include <cerrno>
#include <string>

#include "rmpp_peer.h"

namespace umad_abi {
namespace {

constexpr uint32_t kWide = 1000;  // a window that never ends

// A request of `segments` segments on its way, its first one received.
Packet Start(const RmppEnds& ends, uint64_t tid, size_t segments,
             const To& to = {.timeout_ms = 10'000}) {
  ends.kernel.Send(ends.agent, to,
                   SaMessage(kGetMulti, tid, segments * kSaData));
  return ends.Next();
}

// The RMPP header that the program writes is thrown away.
void UserHeader(Line& line) {
  const RmppEnds ends;
  Bytes message = SaMessage(kGetMulti, 1, 300);
  PutRmpp(message, {.type = kAbort,
                    .flags = kActive | kLast,
                    .status = 120,
                    .segment = 9,
                    .length = 77,
                    .version = 5});
  line.Say("write",
           ends.kernel.Send(ends.agent, {.timeout_ms = 10'000}, message));
  const Packet first = ends.Next();
  line.Say(Describe(first)).Say("version", RmppIn(first.mad).version);
  line.Say("status", RmppIn(first.mad).status);
}

void Basic(Line& line) {
  const RmppEnds ends;
  const Packet first = Start(ends, 1, 3);
  line.Say(Describe(first));
  ends.Reply(first, {.type = kAck, .segment = 1, .length = kWide});
  line.Say(Describe(ends.Next())).Say(Describe(ends.Next()));
  ends.Reply(first, {.type = kAck, .segment = 3, .length = kWide});
  const Packet turn = ends.Next();
  line.Say(Describe(turn)).Say("method", turn.mad.at(kMethod));

  Bytes answer = first.mad;
  answer[kMethod] |= kResponse;
  PutRmpp(answer,
          {.flags = kActive | kFirst | kLast, .segment = 1, .length = 220});
  ends.raw.Send(ends.peer, {}, answer);
  line.Say("answer", ends.kernel.Next().result);
}

void Lengths(Line& line) {
  const RmppEnds ends;
  uint64_t tid = 1;
  for (const size_t bytes : {0, 1, 199, 200, 201, 400, 2001}) {
    ends.kernel.Send(ends.agent, {.timeout_ms = 10'000},
                     SaMessage(kGetMulti, tid++, bytes));
    const Packet first = ends.Next();
    line.Say(std::to_string(bytes) + ": " + Describe(first));
    ends.Reply(first, {.type = kAck, .segment = 1, .length = kWide});
    Packet last = first;
    for (size_t sent = kSaData; sent < bytes; sent += kSaData)
      last = ends.Next();
    if (bytes > kSaData) line.Say(Describe(last));
    // Ends it before its answer would be due.
    ends.Reply(first, {.type = kAbort, .status = 118});
    ends.raw.Arrived();
  }
}

void Vendor(Line& line) {
  const Umad kernel(0);
  const Umad raw(1);
  raw.Register({.mgmt_class = kVendor, .methods = {kSend}, .oui = kOui});
  const int agent =
      kernel.Register({.mgmt_class = kVendor, .oui = kOui, .rmpp = 1});
  Bytes message = Mad(kVendor, kSend, 1);
  PutRmpp(message, {});
  message.resize(40 + 217);  // one byte more than a segment takes
  line.Say("write", kernel.Send(agent, {}, message));
  line.Say(Describe(raw.Next()));
}

void Window(Line& line) {
  const RmppEnds ends;
  const Packet first = Start(ends, 1, 20);
  line.Say(Describe(first));
  line.Say("more", static_cast<long>(ends.raw.Arrived().size()));
  ends.Reply(first, {.type = kAck, .segment = 1, .length = 4});
  line.Say("window to 4:", static_cast<long>(ends.raw.Arrived().size()));
  ends.Reply(first, {.type = kAck, .segment = 3, .length = 3});
  line.Say("an old ACK:", static_cast<long>(ends.raw.Arrived().size()));
  ends.Reply(first, {.type = kAck, .segment = 4, .length = 14});
  line.Say("window to 14:", static_cast<long>(ends.raw.Arrived().size()));
  ends.Reply(first, {.type = kAck, .segment = 14, .length = kWide});
  line.Say("wide:", static_cast<long>(ends.raw.Arrived().size()));
}

// No ACK: sent again from the last one that had one, then given up.
void Retransmit(Line& line) {
  const RmppEnds ends;
  Start(ends, 1, 3, {.timeout_ms = 30, .retries = 2});
  line.Say(Describe(ends.Next())).Say(Describe(ends.Next()));
  const Packet end = ends.kernel.Next();
  line.Say(Describe(end)).Say("read", end.result);
  line.Say("more", static_cast<long>(ends.raw.Arrived().size()));
}

// Lost on the way: the peer says how far it has come.
void RetransmitFromAck(Line& line) {
  const RmppEnds ends;
  const Packet first = Start(ends, 1, 4, {.timeout_ms = 2500, .retries = 1});
  ends.Reply(first, {.type = kAck, .segment = 1, .length = kWide});
  for (int i = 0; i < 3; ++i) ends.Next();
  ends.Reply(first, {.type = kAck, .segment = 2, .length = kWide});
  line.Say(Describe(ends.Next())).Say(Describe(ends.Next()));
}

void Timeout0(Line& line) {
  const RmppEnds ends;
  const Packet first = Start(ends, 1, 2, {.timeout_ms = 0});
  ends.Reply(first, {.type = kAck, .segment = 1, .length = kWide});
  line.Say(Describe(ends.Next()));
  ends.Reply(first, {.type = kAck, .segment = 2, .length = kWide});
  line.Say("after the last ACK:", static_cast<long>(ends.raw.Arrived().size()));
  line.Say("told:", static_cast<long>(ends.kernel.Arrived().size()));
}

// The kernel's end answers a request with a long message.
Packet AnswerAtLength(const RmppEnds& ends, const To& to) {
  ends.raw.Send(ends.peer, {.timeout_ms = 60'000}, Mad(kSa, kGetMulti, 5));
  Bytes answer = SaMessage(kGetMulti | kResponse, 0, 2 * kSaData);
  Put(answer, kTid, 8, ends.kernel.Next().tid());
  ends.kernel.Send(ends.agent, to, answer);
  return ends.Next();
}

void ResponseNoAck(Line& line) {
  const RmppEnds ends;
  line.Say(Describe(AnswerAtLength(ends, {.timeout_ms = 0})));
  line.Say(Describe(ends.kernel.Next()));  // after two seconds
}

void ResponseAcked(Line& line) {
  const RmppEnds ends;
  const Packet first = AnswerAtLength(ends, {.timeout_ms = 0});
  ends.Reply(first, {.type = kAck, .segment = 1, .length = kWide});
  line.Say(Describe(ends.Next()));
  ends.Reply(first, {.type = kAck, .segment = 2, .length = kWide});
  line.Say("told:", static_cast<long>(ends.kernel.Arrived().size()));
  line.Say("after the last ACK:", static_cast<long>(ends.raw.Arrived().size()));
}

void ControlErrors(Line& line) {
  struct Error {
    const char* what;
    Rmpp rmpp;
  };
  const Error errors[] = {
      {"ACK beyond", {.type = kAck, .segment = 9, .length = kWide}},
      {"window below", {.type = kAck, .segment = 1, .length = 0}},
      {"ACK status", {.type = kAck, .status = 1, .segment = 1, .length = 9}},
      {"STOP status", {.type = kStop, .status = 2}},
      {"ABORT status", {.type = kAbort, .status = 1}},
      {"version", {.type = kAck, .segment = 1, .length = 9, .version = 2}},
      {"type", {.type = 9}},
      {"STOP", {.type = kStop, .status = 1}},
      {"ABORT", {.type = kAbort, .status = 126}}};
  for (const auto& [what, rmpp] : errors) {
    const RmppEnds ends;
    const Packet first = Start(ends, 1, 3, {.timeout_ms = 1500});
    ends.Reply(first, rmpp);
    std::string reply = "silence";
    for (const Packet& packet : ends.raw.Arrived()) reply = Describe(packet);
    line.Say(std::string(what) + ": " + reply);
    // Its own timeout would have come by the end of another that is longer.
    ends.kernel.Send(ends.agent, {.lid = 0x1234, .timeout_ms = 1600},
                     Mad(kSa, kGet, 2));
    const Packet told = ends.kernel.Next();
    if ((told.tid() & 0xffff) != 2) line.Say("and the sender was told");
  }
}

}  // namespace

std::vector<Case> RmppSendCases() {
  return {{"rmpp_send_userhdr", UserHeader},
          {"rmpp_send_basic", Basic},
          {"rmpp_send_lengths", Lengths},
          {"rmpp_send_vendor", Vendor},
          {"rmpp_send_window", Window},
          {"rmpp_send_retransmit", Retransmit},
          {"rmpp_send_retransmit_from_ack", RetransmitFromAck},
          {"rmpp_send_tmo0", Timeout0},
          {"rmpp_resp_noack", ResponseNoAck},
          {"rmpp_resp_acked", ResponseAcked},
          {"rmpp_send_ctl_errors", ControlErrors}};
}

}  // namespace umad_abi
