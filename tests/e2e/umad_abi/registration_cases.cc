// REGISTER_AGENT, REGISTER_AGENT2, UNREGISTER_AGENT.
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "cases.h"

namespace umad_abi {
namespace {

void RegIds(Line& line) {
  const Umad umad(0);
  for (int i = 0; i < 3; ++i) line.Say("id", umad.Register({}));
  line.Say("unregister 1", umad.Unregister(1));
  line.Say("id", umad.Register2({})).Say("id", umad.Register({}));
}

void RegLimit(Line& line) {
  const Umad umad(0);
  int last = 0;
  for (int i = 0; i < 32; ++i) last = umad.Register({});
  line.Say("32nd", last).Say("33rd", umad.Register({}));
  line.Say("33rd with bad qpn", umad.Register({.qpn = 2}));
  line.Say("33rd with bad class", umad.Register({.mgmt_class = 0x50}));
  line.Say("33rd by AGENT2", umad.Register2({}));
}

void RegQpn(Line& line) {
  const Umad umad(0);
  for (const int qpn : {0, 1, 2, 255}) {
    line.Say("qpn " + std::to_string(qpn), umad.Register({.qpn = qpn}));
  }
  line.Say("AGENT2 256", umad.Register2({.qpn = 256}));
}

void Reg2Flags(Line& line) {
  const Umad umad(0);
  const auto tell = [&](const char* what, ib_user_mad_reg_req2 request) {
    const int result = ioctl(umad.fd(), IB_USER_MAD_REGISTER_AGENT2, &request);
    line.Say(what, result < 0 ? -errno : result);
    line.Say("flags", request.flags);
  };
  ib_user_mad_reg_req2 plain{};
  plain.qpn = 1;
  ib_user_mad_reg_req2 request = plain;
  request.flags = 6;
  tell("unknown flags", request);
  request.qpn = 2;
  tell("and bad qpn", request);
  request = plain;
  request.flags = 1;
  tell("USER_RMPP, class 0", request);
  request.mgmt_class = kSa;
  request.mgmt_class_version = 2;
  tell("USER_RMPP, rmpp_version 0", request);
  request.mgmt_class = kPerf;
  request.mgmt_class_version = 1;
  tell("USER_RMPP, class without RMPP", request);
  request = plain;
  request.mgmt_class = kVendor;
  request.mgmt_class_version = 1;
  request.oui = 0x1000000;
  tell("OUI of 25 bits", request);
  request = plain;
  request.res = 0xffff;
  std::memset(request.reserved, 0xff, sizeof request.reserved);
  tell("reserved fields", request);
}

void RegFaults(Line& line) {
  const Umad umad(0);
  line.Say("no page", ioctl(umad.fd(), IB_USER_MAD_REGISTER_AGENT, NoPage()) < 0
                          ? -errno
                          : 0);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const request = static_cast<ib_user_mad_reg_req*>(page);
  request->id = 77;
  request->qpn = 1;
  mprotect(page, 4096, PROT_READ);
  line.Say(
      "read-only page",
      ioctl(umad.fd(), IB_USER_MAD_REGISTER_AGENT, request) < 0 ? -errno : 0);
  line.Say("id", request->id).Say("next", umad.Register({}));
  munmap(page, 4096);

  ib_user_mad_reg_req failing{};
  failing.id = 77;
  failing.qpn = 3;
  line.Say(
      "a failure",
      ioctl(umad.fd(), IB_USER_MAD_REGISTER_AGENT, &failing) < 0 ? -errno : 0);
  line.Say("id", failing.id);
}

// The classes that are accepted, as ranges.
std::string Accepted(int qpn, int rmpp, uint32_t oui) {
  std::string ranges;
  const Umad umad(0);
  int begin = -1;
  for (int mgmt_class = 0; mgmt_class <= 256; ++mgmt_class) {
    int id = -1;
    if (mgmt_class < 256) {
      id = umad.Register({.qpn = qpn,
                          .mgmt_class = mgmt_class,
                          .version = 1,
                          .oui = oui,
                          .rmpp = rmpp});
      if (id >= 0) umad.Unregister(static_cast<uint32_t>(id));
    }
    if (id >= 0 && begin < 0) begin = mgmt_class;
    if (id >= 0 || begin < 0) continue;
    char range[16];
    if (begin == mgmt_class - 1) {
      std::snprintf(range, sizeof range, " %02x", begin);
    } else {
      std::snprintf(range, sizeof range, " %02x-%02x", begin, mgmt_class - 1);
    }
    ranges += range;
    begin = -1;
  }
  return ranges.empty() ? " none" : ranges;
}

void RegClassScan(Line& line) {
  line.Say("QP1" + Accepted(1, 0, kOui));
  line.Say("without OUI" + Accepted(1, 0, 0));
  line.Say("RMPP 1" + Accepted(1, 1, kOui));
  line.Say("RMPP 2" + Accepted(1, 2, kOui));
}

void RegClassScanQp0(Line& line) {
  line.Say("QP0" + Accepted(0, 0, kOui)).Say("RMPP 1" + Accepted(0, 1, kOui));
}

void RegVersions(Line& line) {
  const Umad umad(0);
  for (const int version : {0, 1, 0x82, 0x83, 0xff}) {
    line.Say(std::to_string(version),
             umad.Register({.mgmt_class = kPerf, .version = version}));
  }
}

void RegSendOnly(Line& line) {
  const Umad umad(0);
  const Wanted wanted{.version = 0xff, .methods = {1, 2, 127}, .oui = kOui};
  line.Say("class 0", umad.Register(wanted))
      .Say("twice", umad.Register(wanted));
}

void RegConflict(Line& line) {
  const Umad umad(0);
  const Umad other(0);
  const Wanted get_set{.mgmt_class = kBaseboard, .methods = {kGet, kSet}};
  line.Say("Get, Set", umad.Register(get_set));
  line.Say("Set elsewhere",
           other.Register({.mgmt_class = kBaseboard, .methods = {kSet}}));
  line.Say("Set on the same file",
           umad.Register({.mgmt_class = kBaseboard, .methods = {kSet}}));
  line.Say("Send", other.Register({.mgmt_class = kBaseboard, .methods = {3}}));
  line.Say("no method", other.Register({.mgmt_class = kBaseboard}));
  line.Say("version 2",
           other.Register(
               {.mgmt_class = kBaseboard, .version = 2, .methods = {kSet}}));
  line.Say("unregister", umad.Unregister(0));
  line.Say("Set again",
           other.Register({.mgmt_class = kBaseboard, .methods = {kSet}}));
}

void RegMethodsHi(Line& line) {
  const Umad umad(0);
  const Wanted high{.mgmt_class = kBaseboard, .methods = {64, 127}};
  line.Say("64, 127", umad.Register(high));
  line.Say("127", umad.Register({.mgmt_class = kBaseboard, .methods = {127}}));
  line.Say("AGENT2 64",
           umad.Register2({.mgmt_class = kBaseboard, .methods = {64}}));
  line.Say("65", umad.Register2({.mgmt_class = kBaseboard, .methods = {65}}));
}

void Qp0AgentClasses(Line& line) {
  const Umad umad(0);
  for (const int mgmt_class : {kSmLid, kSmDirected, kSmLid, kSmDirected}) {
    line.Say(
        mgmt_class == kSmLid ? "0x01" : "0x81",
        umad.Register({.qpn = 0, .mgmt_class = mgmt_class, .methods = {kGet}}));
  }
}

void RegVendorOui(Line& line) {
  const Umad umad(0);
  int eighth = 0;
  for (uint32_t oui = 1; oui <= 8; ++oui) {
    eighth = umad.Register({.mgmt_class = kVendor, .oui = oui});
  }
  line.Say("8th", eighth);
  line.Say("9th", umad.Register({.mgmt_class = kVendor, .oui = 9}));
  line.Say("one of them again",
           umad.Register({.mgmt_class = kVendor, .oui = 8}));
  line.Say("other version",
           umad.Register({.mgmt_class = kVendor, .version = 2, .oui = 9}));
  line.Say("other class", umad.Register({.mgmt_class = kVendor + 1, .oui = 9}));
  line.Say("no OUI", umad.Register({.mgmt_class = kVendor + 1}));
}

void RegOtherPort(Line& line) {
  const Wanted wanted{.mgmt_class = kBaseboard, .methods = {kGet}};
  const Umad here(0);
  const Umad there(1);
  line.Say("umad0", here.Register(wanted)).Say("umad1", there.Register(wanted));
}

// Which of two agents gets a vendor MAD with bytes 0a 0b 0c at 37.
void OuiOrder(Line& line) {
  const Umad there(1);
  const int forth = there.Register2(
      {.mgmt_class = kVendor, .methods = {kSend}, .oui = 0x0a0b0c});
  const int back = there.Register2(
      {.mgmt_class = kVendor, .methods = {kSend}, .oui = 0x0c0b0a});
  const Umad here(0);
  here.Send(here.Register({}), {}, Mad(kVendor, kSend, 1));
  const Packet packet = there.Next();
  line.Say("OUI 0a0b0c has id", forth).Say("0c0b0a", back);
  line.Say("for", packet.header.id);
}

void UnregUnknown(Line& line) {
  const Umad umad(0);
  line.Say("free", umad.Unregister(0)).Say("32", umad.Unregister(32));
  line.Say("-1", umad.Unregister(~0U));
  line.Say("register", umad.Register({}));
  line.Say("once", umad.Unregister(0)).Say("twice", umad.Unregister(0));
}

// Outstanding sends end without a word; what has come stays.
void UnregOutstanding(Line& line) {
  const Umad umad(0);
  const int going = umad.Register({});
  umad.Send(going, {.timeout_ms = 10'000}, Mad(kPerf, kGet, 1, 1));
  const Packet first = umad.Next();
  umad.Send(going, {.lid = 0x1234, .timeout_ms = 2000}, Mad(kPerf, kGet, 2, 1));
  const int staying = umad.Register({});
  // Its timeout ends after that of the one that goes would have.
  umad.Send(staying, {.lid = 0x1234, .timeout_ms = 2100},
            Mad(kPerf, kGet, 4, 1));
  line.Say("unregister", umad.Unregister(static_cast<uint32_t>(going)));
  line.Say("before", first.result);
  for (;;) {
    const Packet packet = umad.Next();
    if (!packet.ok()) break;
    if (packet.header.id == static_cast<uint32_t>(going)) {
      line.Say("TID", static_cast<long>(packet.tid() & 0xffff))
          .Say("of the gone");
    }
    if (packet.header.id == static_cast<uint32_t>(staying)) {
      line.Say("the other's end", -static_cast<long>(packet.header.status));
      break;
    }
  }
}

void UnregQueued(Line& line) {
  const Umad there(1);
  const int agent =
      there.Register({.mgmt_class = kBaseboard, .methods = {kSend}});
  const Umad here(0);
  here.Send(here.Register({}), {}, Mad(kBaseboard, kSend, 5));
  there.WaitReadable();
  line.Say("unregister", there.Unregister(static_cast<uint32_t>(agent)));
  const Packet packet = there.Read();
  line.Say("read", packet.result).Say("id", packet.header.id);
}

}  // namespace

std::vector<Case> RegistrationCases() {
  return {{"reg_ids", RegIds},
          {"reg_limit", RegLimit},
          {"reg_qpn", RegQpn},
          {"reg2_flags", Reg2Flags},
          {"reg_faults", RegFaults},
          {"reg_class_scan", RegClassScan},
          {"reg_class_scan_qp0", RegClassScanQp0},
          {"reg_versions", RegVersions},
          {"reg_sendonly", RegSendOnly},
          {"reg_conflict", RegConflict},
          {"reg_methods_hi", RegMethodsHi},
          {"q0_agent_classes", Qp0AgentClasses},
          {"reg_vendor_oui", RegVendorOui},
          {"reg_other_port", RegOtherPort},
          {"oui_order", OuiOrder},
          {"unreg_unknown", UnregUnknown},
          {"unreg_outstanding", UnregOutstanding},
          {"unreg_queued", UnregQueued}};
}

}  // namespace umad_abi
