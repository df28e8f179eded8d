#include "sysfs/counters.h"

#include <span>

#include "mad/wire/mad_header.h"
#include "mad/wire/mellanox.h"
#include "mad/wire/port_counters.h"
#include "mad/wire/smp.h"
#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

using ::testing::UnorderedElementsAreArray;

// Plays the agents of the port: answers with the attributes below, if set.
struct Agents {
  std::optional<mad::PortCounters> counters;
  std::optional<mad::PortCountersExtended> extended;
  std::optional<mad::MellanoxExtendedPortInfo> extended_port;
  mad::MadBytes request{};  // the last one

  template <class T>
  bool Answer(const std::optional<T>& value, size_t offset,
              mad::MadBytes& reply) const {
    if (wire::Get<&mad::MadHeader::attr_id>(request) != T::kId || !value) {
      return false;
    }
    wire::Encode(*value, std::span(reply).subspan(offset));
    return true;
  }

  mad::LocalVerdict operator()(const mad::Arrival& arrival,
                               mad::MadBytes& reply) {
    request = arrival.mad;
    reply = arrival.mad;
    const bool answered =
        arrival.qp == 1 ? Answer(counters, mad::kPerfDataOffset, reply) ||
                              Answer(extended, mad::kPerfDataOffset, reply)
                        : Answer(extended_port, mad::kSmpDataOffset, reply);
    wire::Put<&mad::MadHeader::status>(
        reply,
        answered ? mad::MadStatus::kOk : mad::MadStatus::kUnsupportedAttribute);
    return mad::LocalVerdict::kReply;
  }
};

class CountersTest : public ::testing::Test {
 protected:
  CountersTest() {
    device_.port(2).local = [this](const mad::Arrival& request,
                                   mad::MadBytes& reply) {
      return agents_(request, reply);
    };
    device_.port(2).info.link_width_active = mad::link_width::k4x;
  }
  void Build() {
    view_ = *machine_.Show();
    tree_ = BuildTree(view_);
  }
  absl::StatusOr<std::string> Counter(std::string_view name) {
    return Cat(*tree_,
               "class/infiniband/ibemu0/ports/2/counters/" + std::string(name));
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& [name, entry] :
         Find(*tree_, "class/infiniband/ibemu0/ports/2/counters")->children) {
      names.push_back(name);
    }
    return names;
  }

  Agents agents_;
  Machine machine_;
  FakeDevice& device_ = machine_.AddAdapter(2);
  View view_;
  std::unique_ptr<Entry> tree_;
};

TEST_F(CountersTest, AsksThePerformanceAgentForThePort) {
  agents_.counters = mad::PortCounters{};
  Build();
  ASSERT_TRUE(Counter("symbol_error").ok());
  const auto header = wire::Decode<mad::MadHeader>(agents_.request);
  EXPECT_EQ(header.mgmt_class, mad::MgmtClass::kPerformance);
  EXPECT_EQ(header.method, mad::Method::kGet);
  EXPECT_EQ(header.base_version, 1);
  EXPECT_EQ(header.class_version, 1);
  EXPECT_EQ(agents_.request[65], std::byte{2});
}

TEST_F(CountersTest, ShowsEachErrorCounterUnderLinuxsName) {
  mad::PortCounters counters;
  counters.symbol_error_counter = 1;
  counters.link_error_recovery_counter = 2;
  counters.link_downed_counter = 3;
  counters.port_rcv_errors = 4;
  counters.port_rcv_remote_physical_errors = 5;
  counters.port_rcv_switch_relay_errors = 6;
  counters.port_xmit_discards = 7;
  counters.port_xmit_constraint_errors = 8;
  counters.port_rcv_constraint_errors = 9;
  counters.local_link_integrity_errors = 10;
  counters.excessive_buffer_overrun_errors = 11;
  counters.vl15_dropped = 65535;
  counters.port_xmit_wait = 0xffffffff;
  agents_.counters = counters;
  Build();
  EXPECT_EQ(*Counter("symbol_error"), "1\n");
  EXPECT_EQ(*Counter("link_error_recovery"), "2\n");
  EXPECT_EQ(*Counter("link_downed"), "3\n");
  EXPECT_EQ(*Counter("port_rcv_errors"), "4\n");
  EXPECT_EQ(*Counter("port_rcv_remote_physical_errors"), "5\n");
  EXPECT_EQ(*Counter("port_rcv_switch_relay_errors"), "6\n");
  EXPECT_EQ(*Counter("port_xmit_discards"), "7\n");
  EXPECT_EQ(*Counter("port_xmit_constraint_errors"), "8\n");
  EXPECT_EQ(*Counter("port_rcv_constraint_errors"), "9\n");
  EXPECT_EQ(*Counter("local_link_integrity_errors"), "10\n");
  EXPECT_EQ(*Counter("excessive_buffer_overrun_errors"), "11\n");
  EXPECT_EQ(*Counter("VL15_dropped"), "65535\n");
  EXPECT_EQ(*Counter("port_xmit_wait"), "4294967295\n");
}

TEST_F(CountersTest, CountsTrafficIn64BitsWhereTheAgentCan) {
  agents_.counters = mad::PortCounters{};
  mad::PortCountersExtended wide;
  wide.port_xmit_data = ~uint64_t{0};
  wide.port_rcv_data = 2;
  wide.port_xmit_pkts = 3;
  wide.port_rcv_pkts = 4;
  wide.port_unicast_xmit_pkts = 5;
  wide.port_unicast_rcv_pkts = 6;
  wide.port_multicast_xmit_pkts = 7;
  wide.port_multicast_rcv_pkts = 8;
  agents_.extended = wide;
  Build();
  EXPECT_EQ(*Counter("port_xmit_data"), "18446744073709551615\n");
  EXPECT_EQ(*Counter("port_rcv_data"), "2\n");
  EXPECT_EQ(*Counter("port_xmit_packets"), "3\n");
  EXPECT_EQ(*Counter("port_rcv_packets"), "4\n");
  EXPECT_EQ(*Counter("unicast_xmit_packets"), "5\n");
  EXPECT_EQ(*Counter("unicast_rcv_packets"), "6\n");
  EXPECT_EQ(*Counter("multicast_xmit_packets"), "7\n");
  EXPECT_EQ(*Counter("multicast_rcv_packets"), "8\n");
  EXPECT_EQ(Names().size(), 21u);
}

TEST_F(CountersTest, CountsTrafficIn32BitsElsewhere) {
  mad::PortCounters counters;
  counters.port_xmit_data = 0xffffffff;
  counters.port_rcv_data = 2;
  counters.port_xmit_pkts = 3;
  counters.port_rcv_pkts = 4;
  agents_.counters = counters;
  Build();
  EXPECT_EQ(*Counter("port_xmit_data"), "4294967295\n");
  EXPECT_EQ(*Counter("port_rcv_data"), "2\n");
  EXPECT_EQ(*Counter("port_xmit_packets"), "3\n");
  EXPECT_EQ(*Counter("port_rcv_packets"), "4\n");
  EXPECT_EQ(Names().size(), 17u);
}

TEST_F(CountersTest, GivesAnErrorWhereThereIsNoAgent) {
  device_.port(2).local = nullptr;
  Build();
  EXPECT_EQ(Counter("symbol_error").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CountersTest, GivesAnErrorWhenTheAgentRefuses) {
  Build();
  EXPECT_EQ(Counter("port_xmit_data").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CountersTest, TellsFdr10FromQdrByMellanoxsPortInfo) {
  mad::PortInfo& info = device_.port(2).info;
  info.link_width_active = mad::link_width::k4x;
  info.link_speed_active = mad::link_speed::kQdr;
  agents_.extended_port =
      mad::MellanoxExtendedPortInfo{.state_change_enable = 0,
                                    .link_speed_supported = 1,
                                    .link_speed_enabled = 1,
                                    .link_speed_active = mad::kMellanoxFdr10};
  Build();
  const char* rate = "class/infiniband/ibemu0/ports/2/rate";
  EXPECT_EQ(*Cat(*tree_, rate), "40 Gb/sec (4X FDR10)\n");
  EXPECT_EQ(wire::Get<&mad::Smp::attr_mod>(agents_.request), 2u);
  agents_.extended_port->link_speed_active = 0;
  EXPECT_EQ(*Cat(*tree_, rate), "40 Gb/sec (4X QDR)\n");
  agents_.extended_port.reset();
  EXPECT_EQ(*Cat(*tree_, rate), "40 Gb/sec (4X QDR)\n");
}

}  // namespace
}  // namespace ibemu::sysfs
