// An open umadN, by raw system calls alone, and the MADs that it carries.
//
// Nothing of ibemu is included: the same program runs on a Linux machine with
// two adapters and one cable.
#ifndef IBEMU_TESTS_E2E_UMAD_ABI_UMAD_H_
#define IBEMU_TESTS_E2E_UMAD_ABI_UMAD_H_

#include <fcntl.h>
#include <rdma/ib_user_mad.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace umad_abi {

using Bytes = std::vector<uint8_t>;

// Big-endian fields of `width` bytes.
uint64_t Get(const Bytes& from, size_t offset, size_t width);
void Put(Bytes& to, size_t offset, size_t width, uint64_t value);

// The common MAD header (IBA vol 1 §13.4.3), field by field.
constexpr size_t kMethod = 3;
constexpr size_t kStatus = 4;
constexpr size_t kHopPointer = 6;
constexpr size_t kHopCount = 7;
constexpr size_t kTid = 8;
constexpr size_t kAttributeId = 16;
constexpr size_t kAttributeModifier = 20;
constexpr size_t kRmpp = 24;

constexpr int kSmLid = 0x01;
constexpr int kSmDirected = 0x81;
constexpr int kSa = 0x03;
constexpr int kPerf = 0x04;
constexpr int kVendor = 0x31;  // with an OUI
constexpr int kBaseboard = 0x05;
constexpr int kGet = 0x01;
constexpr int kSet = 0x02;
constexpr int kSend = 0x03;
constexpr int kTrapRepress = 0x07;
constexpr int kGetTable = 0x12;
constexpr int kGetMulti = 0x14;
constexpr int kResponse = 0x80;
constexpr uint32_t kOui = 0x0a0b0c;

// 256 bytes of class version 1 (SA: 2); vendor classes carry kOui.
Bytes Mad(int mgmt_class, int method, uint64_t tid, int attribute_id = 0);

struct Wanted {
  int qpn = 1;
  int mgmt_class = 0;  // 0: only sends
  int version = 1;
  std::vector<int> methods{};
  uint32_t oui = 0;
  int rmpp = 0;
  uint32_t flags = 0;  // of REGISTER_AGENT2
};

struct Packet {
  int result = 0;  // of the read(): bytes, or -errno
  ib_user_mad_hdr header{};
  Bytes mad{};

  bool ok() const { return result > 0; }
  uint64_t tid() const { return Get(mad, kTid, 8); }
};

// umad0 and umad1 are cabled together.
int LidOf(int umad);
inline int Other(int umad) { return 1 - umad; }
std::string GidOf(int umad, int index);

// The values in the header of a MAD to the other end of the cable.
struct To {
  int lid = 0;
  int qpn = 1;
  int timeout_ms = 0;
  int retries = 0;
};

class Umad {
 public:
  // Its header has 64 bytes (ENABLE_PKEY) unless `flags` say O_RDONLY or
  // `old_header` is set.  Ends the program if there is no such device.
  explicit Umad(int number, int flags = O_RDWR | O_NONBLOCK,
                bool old_header = false);
  ~Umad();
  Umad(const Umad&) = delete;
  Umad& operator=(const Umad&) = delete;

  int fd() const { return fd_; }
  int number() const { return number_; }
  size_t header_size() const { return header_size_; }
  void Close();

  // The id of the new agent, or -errno.
  int Register(const Wanted& wanted) const;
  int Register2(const Wanted& wanted) const;
  // 0 or -errno.
  int Unregister(uint32_t id) const;
  int EnablePKey() const;

  // Bytes, or -errno.
  int Write(const ib_user_mad_hdr& header, const Bytes& mad) const;
  int Send(int agent, const To& to, const Bytes& mad) const;
  Packet Read(size_t room = size_t{64} + 256) const;

  // Waits, seconds if need be.  False: nothing came.
  bool WaitReadable() const;

  // Waits so, and reads.  result 0: nothing came.
  Packet Next(size_t room = size_t{64} + 256) const;

  // What has come by now: all that the other end sent before this call is
  // waited for.
  std::vector<Packet> Arrived() const;

  short PollNow() const;

 private:
  int fd_;
  int number_;
  size_t header_size_;
};

// Waits until all that was sent has arrived or found nobody, so that nothing
// that an agent has left on the cable comes to the next one.
void Settle();

// A header for Umad::Write(), all fields as `to` says.
ib_user_mad_hdr HeaderFor(int agent, const To& to);

// 0 or more as it is, else the name of the errno.
std::string Outcome(long result);

// An address that may be neither read nor written.
void* NoPage();

// The first line of a file without its end, "" if there is none.
std::string FirstLine(const std::string& path);

}  // namespace umad_abi

#endif  // IBEMU_TESTS_E2E_UMAD_ABI_UMAD_H_
