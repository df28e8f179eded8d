// A connection between two modelled adapters.
#ifndef IBEMU_TESTS_HCA_MODEL_MLX4_TRANSPORT_MLX4_CONNECTION_H_
#define IBEMU_TESTS_HCA_MODEL_MLX4_TRANSPORT_MLX4_CONNECTION_H_

#include <gtest/gtest.h>

#include <string>

#include "tests/hca/model/fake_host.h"

namespace ibemu::hca::model {

class Mlx4Connection : public ::testing::Test {
 protected:
  static constexpr uint32_t kFirstPsn = 0xfffff0;  // of both sides

  explicit Mlx4Connection(prm::QpService service) : service_(service) {
    FakeCable::Join(timers_, here_.cables[0], there_.cables[0]);
    Connect(here_, 6);
    Connect(there_, 5);
  }

  prm::QpContext Context(FakeHost& host, uint16_t peer) {
    prm::QpContext context = host.Context(service_);
    context.remote_qpn = kQpn;
    context.primary.rlid = peer;
    context.remote_write = true;
    context.next_send_psn = context.next_receive_psn = kFirstPsn;
    if (service_ != prm::QpService::kRc) return context;
    context.primary.ack_timeout = 10;  // 4.2 ms, at most 16.8
    context.retry_count = 2;
    context.rnr_retry = 2;
    context.min_rnr_nak = 12;  // 0.64 ms
    context.log_sra_max = context.log_rra_max = 2;
    context.remote_read = context.remote_atomic = true;
    context.fast_register = true;  // as the kernel's own have it
    return context;
  }
  void Connect(FakeHost& host, uint16_t peer) {
    const prm::QpContext context = Context(host, peer);
    ASSERT_EQ(host.Create(kQpn, context), prm::CommandStatus::kOk);
    host.ToRts(kQpn, context);
  }
  static prm::ControlSegment Control(prm::WqeOpcode opcode) {
    return {.opcode = opcode, .completion = prm::kCompletionRequested};
  }
  void PostSend(uint32_t bytes, bool ring = true) {
    here_.Post(kQpn, Control(prm::WqeOpcode::kSend),
               Concat(FakeHost::At(0, bytes)), ring);
  }
  static prm::RemoteAddressSegment Remote(uint64_t offset) {
    return {.address = FakeHost::kRegionStart + offset, .rkey = FakeHost::kKey};
  }
  void Run(absl::Duration span = absl::Milliseconds(1)) {
    timers_.RunFor(span);
  }
  // A pattern that repeats after 251 bytes only.
  static std::string Pattern(size_t bytes) {
    std::string text(bytes, '\0');
    for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i % 251);
    return text;
  }

  const prm::QpService service_;
  testing::VirtualTimers timers_;
  FakeHost here_{timers_, 5};
  FakeHost there_{timers_, 6};
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_TESTS_HCA_MODEL_MLX4_TRANSPORT_MLX4_CONNECTION_H_
