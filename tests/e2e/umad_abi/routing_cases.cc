// Which agent gets a MAD, and what the kernel says where none does.
#include <arpa/inet.h>
#include <endian.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <string>

#include "cases.h"
#include "vendor_ends.h"

namespace umad_abi {
namespace {

// `there` answers what `here` asks.
struct Ends : VendorEnds {
  Ends() : VendorEnds({kGet, kSend}) {}

  // Lets a request arrive and makes its answer.
  Bytes Ask(uint64_t tid, int timeout_ms = 10'000) const {
    here.Send(sender, {.timeout_ms = timeout_ms}, Mad(kVendor, kGet, tid));
    Bytes answer = there.Next().mad;
    answer.at(kMethod) |= kResponse;
    return answer;
  }
  long Answers(const Bytes& answer) const {
    there.Send(receiver, {}, answer);
    return static_cast<long>(here.Arrived().size());
  }
};

void Roundtrip(Line& line) {
  const Ends ends;
  const Bytes answer = ends.Ask(0x77);
  ends.there.Send(ends.receiver, {}, answer);
  const Packet packet = ends.here.Next();
  line.Say("read", packet.result).Say("status", packet.header.status);
  line.Say("TID", static_cast<long>(packet.tid() & 0xffffffff));
  line.Say("timeout_ms", packet.header.timeout_ms);
  line.Say("a second answer", ends.Answers(answer));
}

void ResponseRouting(Line& line) {
  const Ends ends;
  using Change = std::function<void(Bytes&)>;
  const std::pair<const char*, Change> changes[] = {
      {"as asked", [](Bytes&) {}},
      {"other attribute", [](Bytes& mad) { mad[kAttributeId] = 0x55; }},
      {"other method", [](Bytes& mad) { mad[kMethod] = 0x92; }},
      {"other class_version", [](Bytes& mad) { mad[2] = 7; }},
      {"other class", [](Bytes& mad) { mad[1] = kVendor + 1; }},
      {"other low TID", [](Bytes& mad) { mad[15] ^= 0x80; }},
      {"other high TID", [](Bytes& mad) { mad[9] ^= 0x80; }}};
  uint64_t tid = 1;
  for (const auto& [what, change] : changes) {
    Bytes answer = ends.Ask(tid++);
    change(answer);
    line.Say(what, ends.Answers(answer));
  }
}

// The file does not matter, the TID does: the answer finds another port's file.
void ResponseByTidAlone(Line& line) {
  const Ends ends;
  const Umad twin(0);
  const int agent = twin.Register({});
  twin.Send(agent, {.timeout_ms = 10'000}, Mad(kVendor, kGet, 3));
  Bytes answer = ends.there.Next().mad;
  answer[kMethod] |= kResponse;
  line.Say("the asker's sibling", ends.Answers(answer));
  line.Say("the asker", twin.Next().result);
}

// An answer has a GRH if its request had one.
void ResponseGrh(Line& line) {
  const Ends ends;
  const auto with_grh = [](int agent, int from) {
    ib_user_mad_hdr header =
        HeaderFor(agent, {.lid = LidOf(Other(from)), .timeout_ms = 10'000});
    header.grh_present = 1;
    inet_pton(AF_INET6, GidOf(Other(from), 0).c_str(), header.gid);
    return header;
  };
  uint64_t tid = 1;
  for (const auto& [asked, answered] :
       {std::pair{false, true}, {true, false}, {true, true}}) {
    const Bytes request = Mad(kVendor, kGet, tid++);
    if (asked) {
      ends.here.Write(with_grh(ends.sender, 0), request);
    } else {
      ends.here.Send(ends.sender, {.timeout_ms = 10'000}, request);
    }
    Bytes answer = ends.there.Next().mad;
    answer[kMethod] |= kResponse;
    ib_user_mad_hdr header = with_grh(ends.receiver, 1);
    header.timeout_ms = 0;
    header.grh_present = answered;
    ends.there.Write(header, answer);
    line.Say(std::string(asked ? "asked with" : "asked without") +
                 (answered ? ", answered with" : ", answered without"),
             static_cast<long>(ends.here.Arrived().size()));
  }
}

void Timeout0Response(Line& line) {
  const Ends ends;
  line.Say("arrived", ends.Answers(ends.Ask(1, /*timeout_ms=*/0)));
}

void ResponseToResponderMask(Line& line) {
  const Ends ends;
  Bytes answer = Mad(kVendor, kGet | kResponse, 1);
  line.Say("GetResp nobody waits for", ends.here.Send(ends.sender, {}, answer));
  line.Say("arrived", static_cast<long>(ends.there.Arrived().size()));
  answer[kMethod] = kTrapRepress;
  const int agent = ends.there.Register(
      {.mgmt_class = kVendor, .methods = {kTrapRepress}, .oui = kOui});
  line.Say("an agent for TrapRepress", agent);
  ends.here.Send(ends.sender, {}, answer);
  line.Say("arrived", static_cast<long>(ends.there.Arrived().size()));
}

void BaseboardResponseBit(Line& line) {
  const Umad here(0);
  const Umad there(1);
  there.Register({.mgmt_class = kBaseboard, .methods = {kSend}});
  const int sender = here.Register({});
  for (const uint8_t bit : {0, 1}) {
    Bytes mad = Mad(kBaseboard, kSend, 1);
    mad[kAttributeModifier + 3] = bit;
    here.Send(sender, {}, mad);
    line.Say("modifier " + std::to_string(bit) + " arrived",
             static_cast<long>(there.Arrived().size()));
  }
}

// What comes back for `mad`: its method and status, or its end.
std::string Answer(const Umad& umad, int agent, const To& to,
                   const Bytes& mad) {
  const int sent = umad.Send(agent, to, mad);
  if (sent < 0) return "write " + Outcome(sent);
  const Packet packet = umad.Next();
  if (packet.header.status == ETIMEDOUT) return "ETIMEDOUT";
  char text[40];
  std::snprintf(text, sizeof text, "method %02x status %04x",
                packet.mad.at(kMethod),
                static_cast<unsigned>(Get(packet.mad, kStatus, 2)));
  return text;
}

void Unmatched(Line& line) {
  const Umad here(0);
  const Umad there(1);  // attached, with no agent
  const int agent = here.Register({});
  const auto ask = [&](const char* what, int timeout_ms, const Bytes& mad) {
    line.Say(std::string(what) + ": " +
             Answer(here, agent, {.timeout_ms = timeout_ms}, mad));
  };
  ask("Get", 10'000, Mad(kVendor, kGet, 1));
  ask("Set", 10'000, Mad(kVendor, kSet, 2));
  ask("Send", 40, Mad(kVendor, kSend, 3));
  ask("GetTable", 40, Mad(kVendor, kGetTable, 4));
  Bytes payload = Mad(kVendor, kGet, 5);
  payload[200] = 0x5a;
  here.Send(agent, {.timeout_ms = 10'000}, payload);
  line.Say("payload", here.Next().mad.at(200));
}

void VersionMismatch(Line& line) {
  const Umad here(0);
  const Umad there(1);
  there.Register(
      {.mgmt_class = kVendor, .methods = {kGet, kSend}, .oui = kOui});
  const int agent = here.Register({});
  Bytes mad = Mad(kVendor, kGet, 1);
  mad[2] = 2;
  line.Say("class_version 2: " +
           Answer(here, agent, {.timeout_ms = 10'000}, mad));
  mad = Mad(kVendor, kSend, 2);
  mad[0] = 2;
  line.Say("base_version 2: " + Answer(here, agent, {.timeout_ms = 20}, mad));
  line.Say("arrived", static_cast<long>(there.Arrived().size()));
}

void SmpOnQp1(Line& line) {
  const Umad here(0);
  const int qp1 = here.Register({});
  const int qp0 = here.Register({.qpn = 0});
  line.Say("to QP1: " +
           Answer(here, qp1, {.timeout_ms = 20}, Mad(kSmLid, kGet, 1, 0x11)));
  line.Say("to QP0: " + Answer(here, qp0, {.qpn = 0, .timeout_ms = 10'000},
                               Mad(kSmLid, kGet, 2, 0x11)));
}

void GsiOnQp0(Line& line) {
  const Umad here(0);
  const int qp1 = here.Register({});
  const int qp0 = here.Register({.qpn = 0});
  line.Say("to QP0: " + Answer(here, qp0, {.qpn = 0, .timeout_ms = 20},
                               Mad(kPerf, kGet, 1, 1)));
  line.Say("to QP1: " +
           Answer(here, qp1, {.timeout_ms = 10'000}, Mad(kPerf, kGet, 2, 1)));
}

void CommunicationClass(Line& line) {
  constexpr int kCommunication = 0x07;
  const Umad here(0);
  const Umad there(1);
  // On Linux ib_cm may hold the methods already.
  there.Register(
      {.mgmt_class = kCommunication, .version = 1, .methods = {kSet, kSend}});
  const int agent = here.Register({});
  here.Send(agent, {}, Mad(kCommunication, kSet, 1, 0x10));
  line.Say("Set of 0x0010 arrived", static_cast<long>(there.Arrived().size()));
  here.Send(agent, {}, Mad(kCommunication, kSet, 2, 1));
  line.Say("of ClassPortInfo", static_cast<long>(there.Arrived().size()));
  here.Send(agent, {}, Mad(kCommunication, kSend, 3, 0x10));
  line.Say("Send of 0x0010", static_cast<long>(there.Arrived().size()));
}

void PerformanceAgentFirst(Line& line) {
  const Umad here(0);
  const Umad there(1);
  line.Say("an agent for PerfMgt Get",
           there.Register({.mgmt_class = kPerf, .methods = {kGet}}));
  line.Say(Answer(here, here.Register({}), {.timeout_ms = 10'000},
                  Mad(kPerf, kGet, 1, 1)));
  line.Say("it got", static_cast<long>(there.Arrived().size()));
}

}  // namespace

std::vector<Case> RoutingCases() {
  return {{"roundtrip", Roundtrip},
          {"resp_routing", ResponseRouting},
          {"resp_by_tid", ResponseByTidAlone},
          {"resp_grh", ResponseGrh},
          {"timeout0_response", Timeout0Response},
          {"resp_to_responder_mask", ResponseToResponderMask},
          {"bm_response_bit", BaseboardResponseBit},
          {"gen_unmatched", Unmatched},
          {"ver_mismatch", VersionMismatch},
          {"smp_on_qp1", SmpOnQp1},
          {"q0_gsi_on_qp0", GsiOnQp0},
          {"cm_class", CommunicationClass},
          {"q0_pma", PerformanceAgentFirst}};
}

}  // namespace umad_abi
