// A cable whose other end is a test.
#ifndef IBEMU_TESTS_HCA_MODEL_MLX4_FAKE_CABLE_H_
#define IBEMU_TESTS_HCA_MODEL_MLX4_FAKE_CABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/timers.h"
#include "hca/model/cable.h"
#include "mad/wire/mad_header.h"

namespace ibemu::hca::model {

class FakeCable : public Cable {
 public:
  FakeCable() {
    info.lid = wire::Lid{5};
    info.mtu_cap = 5;
    info.vl_cap = 4;
    info.link_width_supported = 3;
    info.port_state = mad::PortState::kActive;
  }

  void SetListener(CableListener* new_listener) override {
    listener = new_listener;
  }
  void Send(std::span<const std::byte> packet) override {
    sent.emplace_back(packet.begin(), packet.end());
    if (peer != nullptr && peer->listener != nullptr &&
        (lose == 0 || --lose != 0)) {
      timers->RunSoon([this, copy = sent.back()] {
        if (peer->listener != nullptr) peer->listener->OnPacket(copy);
      });
    }
  }
  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override {
    arrivals.push_back(request);
    reply = request.mad;
    wire::Put<&mad::MadHeader::method>(reply, mad::Method::kGetResp);
    return verdict;
  }
  mad::PortInfo Info() const override { return info; }
  wire::Guid node_guid() const override { return wire::Guid{0x1234}; }
  int GidCount() const override { return 8; }
  wire::Gid GidAt(int index) const override {
    return {.prefix = wire::kDefaultGidPrefix,
            .interface_id = index == 0 ? gid0 : 0};
  }
  int PKeyCount() const override { return 4; }
  uint16_t PKeyAt(int index) const override {
    return index == 0 ? p_key : uint16_t{0};
  }
  void SetIsSm(bool new_is_sm) override { is_sm = new_is_sm; }
  void OnBadKey(const mad::BadKey& bad) override {
    bad_keys[bad.trap] += bad.packets;
    last_bad_key = bad.details;
  }
  void SetEnabled(bool new_enabled) override { enabled = new_enabled; }

  // Joins two ends to a cable.
  static void Join(Timers& timers, FakeCable& a, FakeCable& b) {
    a.timers = b.timers = &timers;
    a.peer = &b;
    b.peer = &a;
  }

  CableListener* listener = nullptr;
  FakeCable* peer = nullptr;
  Timers* timers = nullptr;
  mad::PortInfo info;
  uint64_t gid0 = 0x1;
  uint16_t p_key = 0xffff;
  bool is_sm = false, enabled = false;
  mad::LocalVerdict verdict = mad::LocalVerdict::kReply;
  int lose = 0;  // 1: the next packet is lost, 2: the one after ...
  std::vector<std::vector<std::byte>> sent;
  std::vector<mad::Arrival> arrivals;
  std::map<mad::TrapNumber, uint32_t> bad_keys;  // packets with them
  mad::BadKeyDetails last_bad_key;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_TESTS_HCA_MODEL_MLX4_FAKE_CABLE_H_
