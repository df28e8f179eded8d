// What read() gives.
#include <arpa/inet.h>
#include <endian.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "cases.h"
#include "child.h"
#include "vendor_ends.h"

namespace umad_abi {
namespace {

std::string Text(const uint8_t (&gid)[16]) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    char byte[4];
    std::snprintf(byte, sizeof byte, "%s%02x", i > 0 && i % 2 == 0 ? ":" : "",
                  gid[i]);
    text += byte;
  }
  return text;
}

void RxHeader(Line& line) {
  const VendorEnds ends;
  ends.here.Send(ends.sender, {}, Mad(kVendor, kSend, 1));
  const Packet packet = ends.there.Next();
  const ib_user_mad_hdr& header = packet.header;
  line.Say("read", packet.result).Say("status", header.status);
  line.Say("timeout_ms", header.timeout_ms).Say("retries", header.retries);
  line.Say("length", header.length).Say("qkey", be32toh(header.qkey));
  line.Say("qpn", be32toh(header.qpn));
  line.Say(be16toh(header.lid) == LidOf(0) ? "lid the sender's"
                                           : "lid another");
  line.Say("sl", header.sl).Say("path_bits", header.path_bits);
  line.Say("grh_present", header.grh_present);
  line.Say("pkey_index", header.pkey_index);
}

void RxHeaderOld(Line& line) {
  const Umad there(1, O_RDWR | O_NONBLOCK, /*old_header=*/true);
  there.Register({.mgmt_class = kVendor, .methods = {kSend}, .oui = kOui});
  const Umad here(0);
  here.Send(here.Register({}), {}, Mad(kVendor, kSend, 1));
  const Packet packet = there.Next(312);
  line.Say("read", packet.result).Say("length", packet.header.length);
  line.Say("qpn", be32toh(packet.header.qpn));
  line.Say("class", packet.mad.at(1));
}

void RxId(Line& line) {
  const VendorEnds ends;
  const int second = ends.there.Register(
      {.mgmt_class = kVendor, .methods = {kGet}, .oui = kOui});
  for (const int method : {kGet, kSend}) {
    ends.here.Send(ends.sender, {}, Mad(kVendor, method, 1));
    line.Say("registered", method == kGet ? second : ends.receiver);
    line.Say("id", ends.there.Next().header.id);
  }
}

void RxServiceLevel(Line& line) {
  const VendorEnds ends;
  ib_user_mad_hdr header = HeaderFor(ends.sender, {.lid = LidOf(1)});
  header.sl = 5;
  ends.here.Write(header, Mad(kVendor, kSend, 1));
  line.Say("sl", ends.there.Next().header.sl);
}

// A header with a GRH to `gid`, as text.
ib_user_mad_hdr HeaderWithGrh(int agent, const std::string& gid) {
  ib_user_mad_hdr header = HeaderFor(agent, {.lid = LidOf(1)});
  header.grh_present = 1;
  header.hop_limit = 3;
  header.traffic_class = 0x12;
  header.flow_label = htobe32(0x34567);
  inet_pton(AF_INET6, gid.c_str(), header.gid);
  return header;
}

void RxGrh(Line& line) {
  const VendorEnds ends;
  ends.here.Write(HeaderWithGrh(ends.sender, GidOf(1, 0)),
                  Mad(kVendor, kSend, 1));
  const ib_user_mad_hdr header = ends.there.Next().header;
  line.Say("grh_present", header.grh_present);
  line.Say(Text(header.gid) == GidOf(0, 0) ? "gid the sender's"
                                           : "gid another");
  line.Say("gid_index", header.gid_index).Say("hop_limit", header.hop_limit);
  line.Say("traffic_class", header.traffic_class);
  line.Say("flow_label", be32toh(header.flow_label));
}

void ForeignGid(Line& line) {
  const VendorEnds ends;
  line.Say("write", ends.here.Write(HeaderWithGrh(ends.sender, "fe80::1234"),
                                    Mad(kVendor, kSend, 1)));
  line.Say("arrived", static_cast<long>(ends.there.Arrived().size()));
}

void AddressErrors(Line& line) {
  const VendorEnds ends;
  ib_user_mad_hdr header = HeaderWithGrh(ends.sender, GidOf(1, 0));
  header.gid_index = 255;
  line.Say("gid_index 255", ends.here.Write(header, Mad(kVendor, kSend, 1)));
}

void ReadShort(Line& line) {
  const VendorEnds ends;
  ends.here.Send(ends.sender, {}, Mad(kVendor, kSend, 1));
  ends.here.Send(ends.sender, {}, Mad(kVendor, kSend, 2));
  line.Say("319", ends.there.Next(319).result);
  line.Say("64", ends.there.Read(64).result);
  line.Say("bad pointer",
           read(ends.there.fd(), NoPage(), 320) < 0 ? -errno : 0);
  for (int i = 0; i < 2; ++i) {
    const Packet packet = ends.there.Next();
    line.Say("320", packet.result);
    line.Say("TID", static_cast<long>(packet.tid() & 0xffff));
  }
  line.Say("320", ends.there.Read().result);
}

void FifoOverAgents(Line& line) {
  const VendorEnds ends;
  ends.there.Register({.mgmt_class = kVendor, .methods = {kGet}, .oui = kOui});
  for (int tid = 1; tid <= 6; ++tid) {
    ends.here.Send(
        ends.sender, {},
        Mad(kVendor, tid % 3 == 0 ? kSend : kGet, static_cast<uint64_t>(tid)));
  }
  for (int i = 0; i < 6; ++i) {
    const Packet packet = ends.there.Next();
    line.Say(std::to_string(packet.tid() & 0xff) + " for agent",
             packet.header.id);
  }
}

// What a child's blocked read() comes to when a signal lets a MAD arrive.
int InterruptedRead(int flags) {
  static int sender;
  static Bytes whole;
  const Umad there(1, O_RDWR);  // waits
  there.Register({.mgmt_class = kVendor, .methods = {kSend}, .oui = kOui});
  const Umad here(0);
  const ib_user_mad_hdr header =
      HeaderFor(here.Register({}), {.lid = LidOf(1)});
  const Bytes mad = Mad(kVendor, kSend, 7);
  whole.assign(sizeof header, 0);
  std::memcpy(whole.data(), &header, sizeof header);
  whole.insert(whole.end(), mad.begin(), mad.end());
  sender = here.fd();
  const pid_t child = StartWaiting([&] {
    OnSignal(
        SIGUSR1, [](int) { (void)!write(sender, whole.data(), whole.size()); },
        flags);
    return there.Read().result == 320 ? 0 : errno;
  });
  kill(child, SIGUSR1);
  const int status = ExitStatus(child);
  return status == 0 ? 320 : -status;
}

void ReadSignal(Line& line) { line.Say("read", InterruptedRead(0)); }
void ReadRestart(Line& line) { line.Say("read", InterruptedRead(SA_RESTART)); }

void BlockingRead(Line& line) {
  const Umad there(1, O_RDWR);
  there.Register({.mgmt_class = kVendor, .methods = {kSend}, .oui = kOui});
  const Umad here(0);
  const int agent = here.Register({});
  const pid_t child =
      StartWaiting([&] { return there.Read().result == 320 ? 0 : 1; });
  here.Send(agent, {}, Mad(kVendor, kSend, 7));
  line.Say("woken by a MAD: exit", ExitStatus(child));
}

}  // namespace

std::vector<Case> ReceiveCases() {
  return {{"rx_header", RxHeader},
          {"rx_header_old", RxHeaderOld},
          {"rx_id", RxId},
          {"ib_sl_rx", RxServiceLevel},
          {"ib_grh_rx", RxGrh},
          {"dgid0", ForeignGid},
          {"ah_errors", AddressErrors},
          {"read_short", ReadShort},
          {"read_requeue_order", FifoOverAgents},
          {"read_blocking", BlockingRead},
          {"read_signal", ReadSignal},
          {"read_restart", ReadRestart}};
}

}  // namespace umad_abi
