// QP0: directed routes, the local path, SM agents.
#include <endian.h>

#include <cerrno>
#include <string>

#include "cases.h"

namespace umad_abi {
namespace {

constexpr size_t kDrSlid = 32;
constexpr size_t kDrDlid = 34;
constexpr size_t kInitialPath = 128;
constexpr size_t kReturnPath = 192;
constexpr int kPermissive = 0xffff;
constexpr int kNodeInfo = 0x11;
constexpr int kSmInfo = 0x20;

// A directed-route SMP along `path`, whose first entry counts as hop 1.
Bytes Smp(uint64_t tid, const std::vector<int>& path,
          int attribute = kNodeInfo) {
  Bytes smp = Mad(kSmDirected, kGet, tid, attribute);
  smp[kHopCount] = static_cast<uint8_t>(path.size());
  Put(smp, kDrSlid, 2, kPermissive);
  Put(smp, kDrDlid, 2, kPermissive);
  for (size_t i = 0; i < path.size(); ++i) {
    smp[kInitialPath + 1 + i] = static_cast<uint8_t>(path[i]);
  }
  return smp;
}

constexpr To Routed(int timeout_ms) {
  return {.lid = kPermissive, .qpn = 0, .timeout_ms = timeout_ms};
}

void TellReply(Line& line, const Packet& packet) {
  if (packet.header.status != 0) {
    line.Say("status", -static_cast<long>(packet.header.status));
    return;
  }
  const int lid = be16toh(packet.header.lid);
  line.Say(lid == kPermissive ? "lid ffff"
           : lid == LidOf(0)  ? "lid of umad0"
           : lid == LidOf(1)  ? "lid of umad1"
                              : "lid another");
  line.Say("qpn", be32toh(packet.header.qpn)).Say("sl", packet.header.sl);
  line.Say("hop_ptr", packet.mad.at(kHopPointer));
  line.Say("status", static_cast<long>(Get(packet.mad, kStatus, 2)));
}

struct Qp0 {
  Umad here{0};
  int agent = here.Register({.qpn = 0});
};

void SendChecks(Line& line) {
  const Qp0 qp0;
  struct Vector {
    const char* what;
    int hop_ptr, hop_count, path1;
    int slid, dlid;
    bool response;
  };
  constexpr int kAny = kPermissive;
  const Vector vectors[] = {{"0/0", 0, 0, 0, kAny, kAny, false},
                            {"0/1", 0, 1, 1, kAny, kAny, false},
                            {"0/1 path 0", 0, 1, 0, kAny, kAny, false},
                            {"0/1 path 2", 0, 1, 2, kAny, kAny, false},
                            {"0/63", 0, 63, 1, kAny, kAny, false},
                            {"0/64", 0, 64, 1, kAny, kAny, false},
                            {"1/1", 1, 1, 1, kAny, kAny, false},
                            {"1/2", 1, 2, 1, kAny, kAny, false},
                            {"2/1", 2, 1, 1, kAny, kAny, false},
                            {"3/1", 3, 1, 1, kAny, kAny, false},
                            {"0/0 dlid 5", 0, 0, 0, kAny, 5, false},
                            {"0/1 slid 5", 0, 1, 2, 5, kAny, false},
                            {"0/64 slid 5", 0, 64, 2, 5, kAny, false},
                            {"response 0/0", 0, 0, 0, kAny, kAny, true},
                            {"response 1/0", 1, 0, 0, kAny, kAny, true},
                            {"response 2/1", 2, 1, 1, kAny, kAny, true},
                            {"response 1/2", 1, 2, 1, kAny, kAny, true},
                            {"response 3/1", 3, 1, 1, kAny, kAny, true},
                            {"response 0/64", 0, 64, 1, kAny, kAny, true},
                            {"response 3/1 dlid 5", 3, 1, 1, kAny, 5, true}};
  uint64_t tid = 0;
  for (const Vector& v : vectors) {
    Bytes smp = Smp(++tid, {});
    smp[kHopPointer] = static_cast<uint8_t>(v.hop_ptr);
    smp[kHopCount] = static_cast<uint8_t>(v.hop_count);
    smp[kInitialPath + 1] = static_cast<uint8_t>(v.path1);
    smp[kReturnPath + 1] = static_cast<uint8_t>(v.path1);
    Put(smp, kDrSlid, 2, static_cast<uint64_t>(v.slid));
    Put(smp, kDrDlid, 2, static_cast<uint64_t>(v.dlid));
    if (v.response) {
      smp[kMethod] |= kResponse;
      Put(smp, kStatus, 2, 0x8000);
    }
    line.Say(v.what, qp0.here.Send(qp0.agent, Routed(0), smp));
  }
}

// Also from an agent of QP1.
void SendChecksFromQp1(Line& line) {
  const Umad here(0);
  const int agent = here.Register({});
  line.Say("good", here.Send(agent, Routed(0), Smp(1, {1})));
  line.Say("bad", here.Send(agent, Routed(0), Smp(2, {2})));
}

void Local(Line& line) {
  const Qp0 qp0;
  qp0.here.Send(qp0.agent, Routed(10'000), Smp(1, {}));
  TellReply(line, qp0.here.Next());
}

void LocalTimeout0(Line& line) {
  const Qp0 qp0;
  qp0.here.Send(qp0.agent, Routed(0), Smp(1, {}));
  TellReply(line, qp0.here.Next());
}

// No SM is there to answer SMInfo: not even a timeout tells.
void LocalNoReply(Line& line) {
  const Qp0 qp0;
  line.Say("SMInfo", qp0.here.Send(qp0.agent, Routed(10), Smp(1, {}, kSmInfo)));
  qp0.here.Send(qp0.agent, {.lid = 0x1234, .qpn = 0, .timeout_ms = 40},
                Mad(kSmLid, kGet, 2, kNodeInfo));
  line.Say("the only end is of TID",
           static_cast<long>(qp0.here.Next().tid() & 0xffff));
  line.Say("more", qp0.here.Read().result);
}

void LocalSm(Line& line) {
  const Qp0 qp0;
  const Umad sm(0);
  const int agent =
      sm.Register({.qpn = 0, .mgmt_class = kSmDirected, .methods = {kGet}});
  qp0.here.Send(qp0.agent, Routed(10'000), Smp(1, {}, kSmInfo));
  Packet request = sm.Next();
  line.Say("the SM agent reads", request.result);
  TellReply(line, request);
  Bytes& answer = request.mad;
  answer[kMethod] |= kResponse;
  Put(answer, kStatus, 2, 0x8000);
  line.Say("its answer", sm.Send(agent, Routed(0), answer));
  TellReply(line, qp0.here.Next());
}

void LidSelf(Line& line) {
  const Qp0 qp0;
  const To self{.lid = LidOf(0), .qpn = 0, .timeout_ms = 10'000};
  qp0.here.Send(qp0.agent, self, Mad(kSmLid, kGet, 1, kNodeInfo));
  TellReply(line, qp0.here.Next());
  To deaf = self;
  deaf.timeout_ms = 0;
  qp0.here.Send(qp0.agent, deaf, Mad(kSmLid, kGet, 2, kNodeInfo));
  line.Say("timeout 0: arrived", static_cast<long>(qp0.here.Arrived().size()));
}

void LidPeer(Line& line) {
  const Qp0 qp0;
  qp0.here.Send(qp0.agent, {.qpn = 0, .timeout_ms = 10'000},
                Mad(kSmLid, kGet, 1, kNodeInfo));
  TellReply(line, qp0.here.Next());
  qp0.here.Send(qp0.agent, {.qpn = 0, .timeout_ms = 10'000},
                Mad(kSmLid, kGet, 2, 0xff55));
  TellReply(line, qp0.here.Next());
}

void OneHop(Line& line) {
  const Qp0 qp0;
  qp0.here.Send(qp0.agent, Routed(10'000), Smp(1, {1}));
  const Packet packet = qp0.here.Next();
  TellReply(line, packet);
  line.Say("return_path[1]", packet.mad.at(kReturnPath + 1));
}

void BeyondAnAdapter(Line& line) {
  const Qp0 qp0;
  line.Say("write", qp0.here.Send(qp0.agent, Routed(20), Smp(1, {1, 1})));
  TellReply(line, qp0.here.Next());
}

}  // namespace

std::vector<Case> DirectedRouteCases() {
  return {{"smi_send_checks", SendChecks},
          {"smi_send_checks_qp1", SendChecksFromQp1},
          {"q0_dr_local", Local},
          {"q0_dr_local_tmo0", LocalTimeout0},
          {"q0_dr_local_noreply", LocalNoReply},
          {"q0_dr_local_sm", LocalSm},
          {"q0_lid_self", LidSelf},
          {"q0_lid_peer", LidPeer},
          {"q0_dr_hop1", OneHop},
          {"q0_dr_beyond_ca", BeyondAnAdapter}};
}

}  // namespace umad_abi
