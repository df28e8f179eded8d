// Single RMPP packets, made and told by hand: what the kernel's RMPP meets.
#ifndef IBEMU_TESTS_E2E_UMAD_ABI_RMPP_PEER_H_
#define IBEMU_TESTS_E2E_UMAD_ABI_RMPP_PEER_H_

#include <string>

#include "cases.h"

namespace umad_abi {

// IBA vol 1 §13.6.2.1.
constexpr int kData = 1;
constexpr int kAck = 2;
constexpr int kStop = 3;
constexpr int kAbort = 4;
constexpr int kActive = 1;
constexpr int kFirst = 2;
constexpr int kLast = 4;

constexpr size_t kSaHeader = 56;
constexpr size_t kSaData = 200;  // of one segment

struct Rmpp {
  int type = kData;
  int flags = kActive;
  int status = 0;
  uint32_t segment = 0;
  uint32_t length = 0;  // or the new window's last segment
  int version = 1;
};

void PutRmpp(Bytes& mad, const Rmpp& rmpp);
Rmpp RmppIn(const Bytes& mad);

// "DATA 1 first 440", "ACK 1 to 65", "ABORT 123", "ETIMEDOUT", "nothing".
std::string Describe(const Packet& packet);

// A message of the SA class with `bytes` of data, to be sent by the kernel's
// RMPP; data byte n is n * 7 of all.
Bytes SaMessage(int method, uint64_t tid, size_t bytes);

// umad0 with an agent that leaves RMPP to the kernel, and umad1 with one that
// sees and sends single packets.
struct RmppEnds {
  Umad kernel{0};
  Umad raw{1};
  int agent = kernel.Register(
      {.mgmt_class = kSa, .version = 2, .methods = {kGetMulti}, .rmpp = 1});
  int peer = raw.Register(
      {.mgmt_class = kSa, .version = 2, .methods = {kGetTable, kGetMulti}});

  // The next packet that comes to the raw end.
  Packet Next() const { return raw.Next(); }

  // Answers `to` with an RMPP packet of the other direction.
  int Reply(const Packet& to, const Rmpp& rmpp) const;
};

}  // namespace umad_abi

#endif  // IBEMU_TESTS_E2E_UMAD_ABI_RMPP_PEER_H_
