// An open umad file of a fake adapter with two ports.
#ifndef IBEMU_TESTS_CUSE_UMAD_UMAD_FIXTURE_H_
#define IBEMU_TESTS_CUSE_UMAD_UMAD_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>
#include <memory>

#include "cuse/umad/umad_file.h"
#include "testing/fake_device.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/file_driver.h"
#include "tests/cuse/peer.h"

namespace ibemu::cuse {

constexpr int kUmadIdle = POLLOUT | POLLWRNORM;
constexpr int kUmadReadable = kUmadIdle | POLLIN | POLLRDNORM;
constexpr size_t kWholeMad = kOldUmadHeader + 256;
// A class, and the bit of a method, that tests register for.
constexpr uint8_t kPerformance = 4;
constexpr uint64_t kGet = uint64_t{1} << 1;

class UmadTest : public ::testing::Test {
 protected:
  UmadTest() { EXPECT_EQ(umad_.Open(), Errno::kOk); }

  static ib_user_mad_reg_req Request(uint8_t mgmt_class = 0,
                                     uint64_t methods = 0) {
    ib_user_mad_reg_req request{};
    request.id = 77;
    request.qpn = 1;
    request.mgmt_class = mgmt_class;
    request.mgmt_class_version = mgmt_class == 0 ? 0 : 1;
    std::memcpy(request.method_mask, &methods, sizeof methods);
    return request;
  }

  // The caller's structure is changed as the kernel would.
  static Errno Register(FileDriver& umad, ib_user_mad_reg_req& request) {
    return Change(umad, IB_USER_MAD_REGISTER_AGENT, request);
  }
  static Errno Register(FileDriver& umad, ib_user_mad_reg_req2& request) {
    return Change(umad, IB_USER_MAD_REGISTER_AGENT2, request);
  }
  Errno Register(ib_user_mad_reg_req request) {
    return Register(umad_, request);
  }
  Errno Unregister(uint32_t id) {
    return Change(umad_, IB_USER_MAD_UNREGISTER_AGENT, id);
  }
  Errno EnablePKey() { return umad_.Ioctl(IB_USER_MAD_ENABLE_PKEY, {}).error; }

  // Lets what was sent arrive, and answers to it.
  void Settle() { timers_.RunPending(); }

  template <class T>
  static Errno Change(FileDriver& umad, uint32_t command, T& argument) {
    const mad::Bytes in = {reinterpret_cast<const std::byte*>(&argument),
                           sizeof argument};
    const FileDriver::Answer answer = umad.Ioctl(command, in);
    if (!answer.data.empty()) {
      EXPECT_EQ(answer.data.size(), sizeof argument);
      std::memcpy(&argument, answer.data.data(), sizeof argument);
    }
    return answer.error;
  }

  testing::VirtualTimers timers_;
  testing::FakeDevice device_{2};
  testing::FakePort& port_ = device_.port(1);
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, device_);
  UmadFile file_{host_, 1};
  FileDriver umad_{file_};
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_UMAD_UMAD_FIXTURE_H_
