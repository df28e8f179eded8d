// An open umad file whose client has rings, and that client's library.
#ifndef IBEMU_TESTS_CUSE_UMAD_RINGED_UMAD_H_
#define IBEMU_TESTS_CUSE_UMAD_RINGED_UMAD_H_

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "cuse/umad/umad_file.h"
#include "fast_path/preload/umad_client.h"
#include "fast_path/rings/attach_rings.h"
#include "tests/cuse/file_driver.h"
#include "tests/cuse/rings/client_memory_file.h"

namespace ibemu::cuse {

// Calls go through the rings if the library finds that they may, and through
// the file else.  All buffers count as known.
class RingedUmad {
 public:
  explicit RingedUmad(std::shared_ptr<mad::Host> host)
      : file_(std::make_unique<UmadFile>(std::move(host), 1, &set_)),
        driver_(*file_) {
    EXPECT_EQ(driver_.Open(), Errno::kOk);
  }

  Errno Attach(uint32_t version = fast_path::kRingsVersion) {
    return Attach(version, memory_file_.fd());
  }
  Errno Attach(uint32_t version, int memory) {
    const fast_path::AttachRings attach = {version, memory};
    return driver_
        .Ioctl(fast_path::kAttachRings, std::as_bytes(std::span(&attach, 1)),
               true, gettid())
        .error;
  }

  // Lets the file serve the rings, as any call of it does.
  void Wake() { driver_.Ioctl(fast_path::kLookAtRings, {}); }

  Errno Write(Bytes data) {
    facts_->readable.Add(data.data(), data.size());
    const fast_path::Way way = client_.Write(data.data(), data.size());
    ++ways[way == fast_path::Way::kRing];
    last_way = way;
    return way == fast_path::Way::kRing ? Errno::kOk : driver_.Write(data);
  }
  FileDriver::Answer Read(size_t room) {
    std::vector<std::byte> data(room);
    facts_->writable.Add(data.data(), data.size());
    size_t length = 0;
    const fast_path::Way way = client_.Read(data.data(), room, length);
    ++ways[way == fast_path::Way::kRing];
    if (way != fast_path::Way::kRing) return driver_.Read(room);
    data.resize(length);
    return {.error = Errno::kOk, .data = std::move(data)};
  }
  uint32_t Poll() {
    constexpr uint32_t kIdle = POLLOUT | POLLWRNORM;
    switch (client_.Look()) {
      case fast_path::UmadClient::State::kQuiet:
        return kIdle;
      case fast_path::UmadClient::State::kReadable:
        return kIdle | POLLIN | POLLRDNORM;
      default:
        return file_->Poll();
    }
  }

  RingSet& set() { return set_; }
  UmadFile& file() { return *file_; }
  FileDriver& driver() { return driver_; }
  fast_path::UmadClient& client() { return client_; }
  fast_path::UmadRingMemory& memory() {
    return *static_cast<fast_path::UmadRingMemory*>(memory_file_.address());
  }
  fast_path::ProcessFacts& facts() { return *facts_; }
  void Release() { file_.reset(); }

  int ways[2] = {0, 0};  // calls by the file, and by the rings
  fast_path::Way last_way = fast_path::Way::kAsleep;

 private:
  ClientMemoryFile memory_file_{sizeof(fast_path::UmadRingMemory)};
  const std::unique_ptr<fast_path::ProcessFacts> facts_ =
      std::make_unique<fast_path::ProcessFacts>();
  fast_path::UmadClient client_{memory(), *facts_};
  RingSet set_;
  std::unique_ptr<UmadFile> file_;
  FileDriver driver_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_UMAD_RINGED_UMAD_H_
