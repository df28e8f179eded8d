// A client of subnet administration, on a host of a managed fabric.
#ifndef IBEMU_TESTS_FABRIC_SA_SA_FIXTURE_H_
#define IBEMU_TESTS_FABRIC_SA_SA_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sa/subnet_administration.h"
#include "fabric/subnet/subnet.h"
#include "mad/host.h"
#include "mad/wire/notice.h"
#include "mad/wire/sa.h"
#include "mad/wire/sa_component_mask.h"
#include "testing/lab.h"
#include "testing/virtual_timers.h"

namespace ibemu::fabric {

using mad::kComponentBit;
using testing::kHost, testing::kOtherHost, testing::kSwitch;

struct SaAnswer {
  mad::SaHeader header{};
  std::vector<std::byte> data{};

  mad::MadStatus status() const { return header.mad.status; }
  // Of a table, or the one of a single answer.
  template <class T>
  std::vector<T> As() const {
    std::vector<T> records;
    const size_t each = size_t{header.attribute_offset} * 8;
    if (header.mad.method == mad::Method::kGetResp) {
      return {wire::Decode<T>(data)};
    }
    for (size_t at = 0; each != 0 && at + each <= data.size(); at += each) {
      records.push_back(wire::Decode<T>(std::span(data).subspan(at)));
    }
    return records;
  }
};

// The programs of one host: they ask, and hear reports.
class SaClient : public mad::AgentClient {
 public:
  SaClient(testing::VirtualTimers& timers, Fabric& fabric,
           topology::NodeId node)
      : host_(timers, fabric.device(node)) {
    mad::Registration registration{
        .mgmt_class = 0x03, .mgmt_class_version = 2, .rmpp_version = 1};
    registration.methods.set(static_cast<size_t>(mad::Method::kReport));
    agent_ = *host_.Register(1, registration, *this);
  }

  void Ask(wire::Lid sm, const mad::SaHeader& header,
           std::vector<std::byte> data, bool rmpp = false) {
    mad::SaHeader full = header;
    full.mad.mgmt_class = mad::MgmtClass::kSubnetAdministration;
    full.mad.class_version = mad::kSaClassVersion;
    full.mad.tid = ++tid_;
    full.rmpp.active = rmpp;
    std::vector<std::byte> mad(mad::kSaDataOffset);
    wire::Encode(full, mad);
    mad.insert(mad.end(), data.begin(), data.end());
    if (!rmpp) mad.resize(mad::kMadBytes);
    EXPECT_TRUE(agent_
                    ->Send({.to = {.dlid = sm, .qpn = 1},
                            .mad = std::move(mad),
                            .timeout = absl::Seconds(1)})
                    .ok());
  }

  void OnMad(mad::Agent& agent, mad::IncomingMessage message) override {
    SaAnswer answer{.header = wire::Decode<mad::SaHeader>(message.mad)};
    answer.data.assign(message.mad.begin() + mad::kSaDataOffset,
                       message.mad.end());
    if (answer.header.mad.method != mad::Method::kReport) {
      answers.push_back(std::move(answer));
      return;
    }
    reports.push_back(wire::Decode<mad::SaNotice>(answer.data));
    if (!confirms) return;
    wire::Put<&mad::MadHeader::method>(message.mad, mad::Method::kReportResp);
    EXPECT_TRUE(agent
                    .Send({.to = {.dlid = message.slid, .qpn = 1},
                           .mad = std::move(message.mad)})
                    .ok());
  }
  void OnSendDone(mad::Agent&, uint64_t) override {}
  void OnSendTimeout(mad::Agent&, uint64_t) override { ++timeouts; }

  std::vector<SaAnswer> answers;
  std::vector<mad::SaNotice> reports;
  bool confirms = true;
  int timeouts = 0;

 private:
  mad::Host host_;
  std::unique_ptr<mad::Agent> agent_;
  uint32_t tid_ = 0;
};

class SaTest : public ::testing::Test {
 protected:
  // What a client on node-1 is told; nothing within 10 s: a status that is
  // none.
  SaAnswer Ask(const mad::SaHeader& header, std::vector<std::byte> data,
               SaClient* client = nullptr, bool rmpp = false) {
    if (client == nullptr) client = &client_;
    client->answers.clear();
    client->Ask(SmLid(), header, std::move(data), rmpp);
    for (int i = 0; i < 1000 && client->answers.empty(); ++i) {
      timers_.RunFor(absl::Milliseconds(10));
    }
    if (client->answers.empty()) {
      return {.header = {.mad = {.status = kNoAnswer}}};
    }
    return client->answers.front();
  }
  template <class T>
  SaAnswer Ask(mad::Method method, const T& record, uint64_t mask,
               uint64_t sm_key = 0, SaClient* client = nullptr) {
    mad::SaHeader header;
    header.mad.method = method;
    header.mad.attr_id = T::kId;
    header.sm_key = sm_key;
    header.component_mask = mask;
    std::vector<std::byte> data(std::max(wire::kBytes<T>, mad::kSaDataBytes));
    wire::Encode(record, data);
    const bool rmpp = method == mad::Method::kGetMulti;
    return Ask(header, std::move(data), client, rmpp);
  }
  template <class T>
  std::vector<T> Table(const T& record = {}, uint64_t mask = 0,
                       uint64_t sm_key = 0) {
    const SaAnswer answer = Ask(mad::Method::kGetTable, record, mask, sm_key);
    EXPECT_EQ(answer.status(), mad::MadStatus::kOk);
    EXPECT_EQ(answer.header.mad.method, mad::Method::kGetTableResp);
    return answer.As<T>();
  }

  NodePort& PortOf(topology::NodeId node, int number) {
    return lab_.PortOf(node, number);
  }
  wire::Lid SmLid() { return PortOf(kSwitch, 0).info.lid; }
  wire::Lid LidOf(topology::NodeId host) { return PortOf(host, 1).info.lid; }
  wire::Gid GidOf(topology::NodeId host) {
    return {.prefix = wire::kDefaultGidPrefix,
            .interface_id = PortOf(host, 1).GuidAt(0)};
  }

  static constexpr auto kNoAnswer = mad::MadStatus(0xffff);

  testing::Lab lab_{testing::SmallSubnet(), testing::Lab::kByItsManager};
  testing::VirtualTimers& timers_ = lab_.timers;
  Fabric& fabric_ = lab_.fabric;
  SaClient client_{timers_, fabric_, kHost};
  SaClient other_{timers_, fabric_, kOtherHost};
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SA_SA_FIXTURE_H_
