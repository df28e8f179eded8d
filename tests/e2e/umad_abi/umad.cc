#include "umad.h"

#include <endian.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace umad_abi {
namespace {

constexpr int kPatience = 120'000;  // milliseconds; only a fault needs them

int ResultOf(long result) {
  return static_cast<int>(result < 0 ? -errno : result);
}

// What both kinds of registration ask for alike.
template <class Request>
Request RequestOf(const Wanted& wanted) {
  Request request{};
  request.qpn = static_cast<decltype(request.qpn)>(wanted.qpn);
  request.mgmt_class = static_cast<uint8_t>(wanted.mgmt_class);
  request.mgmt_class_version = static_cast<uint8_t>(wanted.version);
  request.rmpp_version = static_cast<uint8_t>(wanted.rmpp);
  return request;
}

// With UMAD_ABI_WARM each call follows another one of the same file, so where
// calls can take a shorter way, more of them do.  Who blocks must not seem to
// wait in that one.
void Warm(int fd) {
  static const bool is_wanted = std::getenv("UMAD_ABI_WARM") != nullptr;
  if (!is_wanted || (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0) return;
  pollfd twice[2] = {{.fd = fd, .events = POLLPRI, .revents = 0},
                     {.fd = fd, .events = POLLPRI, .revents = 0}};
  poll(twice, 2, 0);
}

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "umad_abi: %s: %s\n", what.c_str(),
               std::strerror(errno));
  std::exit(2);
}

}  // namespace

uint64_t Get(const Bytes& from, size_t offset, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | from.at(offset + i);
  return value;
}

void Put(Bytes& to, size_t offset, size_t width, uint64_t value) {
  for (size_t i = width; i > 0; --i, value >>= 8) {
    to.at(offset + i - 1) = static_cast<uint8_t>(value);
  }
}

Bytes Mad(int mgmt_class, int method, uint64_t tid, int attribute_id) {
  constexpr size_t kOuiOffset = 37;
  Bytes mad(256);
  mad[0] = 1;
  mad[1] = static_cast<uint8_t>(mgmt_class);
  mad[2] = mgmt_class == kSa ? 2 : 1;
  mad[kMethod] = static_cast<uint8_t>(method);
  Put(mad, kTid, 8, tid);
  Put(mad, kAttributeId, 2, static_cast<uint64_t>(attribute_id));
  if (mgmt_class >= 0x30 && mgmt_class <= 0x4f) Put(mad, kOuiOffset, 3, kOui);
  return mad;
}

int LidOf(int umad) {
  const std::string device = FirstLine("/sys/class/infiniband_mad/umad" +
                                       std::to_string(umad) + "/ibdev");
  const std::string lid =
      FirstLine("/sys/class/infiniband/" + device + "/ports/1/lid");
  return static_cast<int>(std::strtol(lid.c_str(), nullptr, 0));
}

std::string GidOf(int umad, int index) {
  const std::string device = FirstLine("/sys/class/infiniband_mad/umad" +
                                       std::to_string(umad) + "/ibdev");
  return FirstLine("/sys/class/infiniband/" + device + "/ports/1/gids/" +
                   std::to_string(index));
}

Umad::Umad(int number, int flags, bool old_header)
    : number_(number), header_size_(old_header ? 56 : 64) {
  const std::string path = "/dev/infiniband/umad" + std::to_string(number);
  fd_ = open(path.c_str(), flags | O_CLOEXEC);
  if (fd_ < 0) Die(path);
  if (!old_header && EnablePKey() != 0) Die("ENABLE_PKEY");
}

Umad::~Umad() { Close(); }

void Umad::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

int Umad::Register(const Wanted& wanted) const {
  auto request = RequestOf<ib_user_mad_reg_req>(wanted);
  for (int i = 0; i < 3; ++i) {
    request.oui[i] = static_cast<uint8_t>(wanted.oui >> (16 - 8 * i));
  }
  constexpr size_t kBits = 8 * sizeof request.method_mask[0];
  for (const int method : wanted.methods) {
    const auto bit = static_cast<size_t>(method);
    request.method_mask[bit / kBits] |= packed_ulong{1} << bit % kBits;
  }
  if (ioctl(fd_, IB_USER_MAD_REGISTER_AGENT, &request) != 0) return -errno;
  return static_cast<int>(request.id);
}

int Umad::Register2(const Wanted& wanted) const {
  auto request = RequestOf<ib_user_mad_reg_req2>(wanted);
  request.oui = wanted.oui;
  request.flags = wanted.flags;
  for (const int method : wanted.methods) {
    request.method_mask[method / 64] |= uint64_t{1} << method % 64;
  }
  if (ioctl(fd_, IB_USER_MAD_REGISTER_AGENT2, &request) != 0) return -errno;
  return static_cast<int>(request.id);
}

int Umad::Unregister(uint32_t id) const {
  return ResultOf(ioctl(fd_, IB_USER_MAD_UNREGISTER_AGENT, &id));
}

int Umad::EnablePKey() const {
  return ResultOf(ioctl(fd_, IB_USER_MAD_ENABLE_PKEY));
}

ib_user_mad_hdr HeaderFor(int agent, const To& to) {
  ib_user_mad_hdr header{};
  header.id = static_cast<uint32_t>(agent);
  header.timeout_ms = static_cast<uint32_t>(to.timeout_ms);
  header.retries = static_cast<uint32_t>(to.retries);
  header.qpn = htobe32(static_cast<uint32_t>(to.qpn));
  header.qkey = htobe32(0x80010000);
  header.lid = htobe16(static_cast<uint16_t>(to.lid));
  return header;
}

int Umad::Write(const ib_user_mad_hdr& header, const Bytes& mad) const {
  Bytes all(header_size_ + mad.size());
  std::memcpy(all.data(), &header, header_size_);
  std::copy(mad.begin(), mad.end(),
            all.begin() + static_cast<long>(header_size_));
  Warm(fd_);
  return ResultOf(write(fd_, all.data(), all.size()));
}

int Umad::Send(int agent, const To& to, const Bytes& mad) const {
  To whole = to;
  if (whole.lid == 0) whole.lid = LidOf(Other(number_));
  return Write(HeaderFor(agent, whole), mad);
}

Packet Umad::Read(size_t room) const {
  Bytes buffer(room);
  Packet packet;
  Warm(fd_);
  packet.result = ResultOf(read(fd_, buffer.data(), room));
  const size_t got = packet.result == -ENOSPC ? header_size_ + 256
                     : packet.result < 0      ? 0
                                         : static_cast<size_t>(packet.result);
  if (got < header_size_) return packet;
  std::memcpy(&packet.header, buffer.data(), header_size_);
  packet.mad.assign(buffer.begin() + static_cast<long>(header_size_),
                    buffer.begin() + static_cast<long>(got));
  return packet;
}

bool Umad::WaitReadable() const {
  pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, kPatience) == 1;
}

Packet Umad::Next(size_t room) const {
  return WaitReadable() ? Read(room) : Packet{};
}

std::vector<Packet> Umad::Arrived() const {
  // The answer to a question that leaves now comes after them.
  constexpr uint64_t kMark = 0x6d61726b;
  constexpr int kClassPortInfo = 1;
  std::vector<Packet> arrived;
  const int agent = Register({});
  if (agent < 0) Die("an agent for the mark");
  if (Send(agent, {.timeout_ms = kPatience},
           Mad(kPerf, kGet, kMark, kClassPortInfo)) < 0) {
    Die("the mark");
  }
  for (;;) {
    Packet packet = Next();
    if (!packet.ok()) Die("the answer to the mark");
    if (packet.header.id == static_cast<uint32_t>(agent)) break;
    arrived.push_back(std::move(packet));
  }
  Unregister(static_cast<uint32_t>(agent));
  return arrived;
}

void Settle() {
  // The second hears after what was sent to the first has been answered.
  for (const int number : {0, 1, 0}) Umad(number).Arrived();
}

short Umad::PollNow() const {
  pollfd asked{.fd = fd_,
               .events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM | POLLPRI,
               .revents = 0};
  poll(&asked, 1, 0);
  return asked.revents;
}

std::string Outcome(long result) {
  if (result >= 0) return std::to_string(result);
  const char* const name = strerrorname_np(static_cast<int>(-result));
  return name == nullptr ? std::to_string(result) : name;
}

void* NoPage() {
  static void* const page =
      mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page;
}

std::string FirstLine(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

}  // namespace umad_abi
