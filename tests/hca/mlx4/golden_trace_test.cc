// Our driver's commands against those of the Linux driver, which a guest has
// recorded: tests/guest/golden/mlx4_driver.txt.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hca/model/mlx4/core/command_trace.h"
#include "testing/mlx4_machine.h"
#include "tests/hca/mlx4/command_lines.h"
#include "tests/hca/mlx4/golden.h"

namespace ibemu::hca::mlx4 {
namespace {

using testing::Mlx4Lab, testing::Mlx4Machine;

// "-": the Linux driver's alone, "+": ours alone, and how often.
constexpr Allowed kAllowedSteps[] = {
    {"- MOD_STAT_CFG op=2", "asks for what Ethernet tools show", 1},
    {"- SW2HW_EQ", "we have one queue for all events", 1},
    {"- HW2SW_EQ", "we have one queue for all events", 1},
    {"- NOP", "tries whether commands can end by an event: ours are polled", 1},
    {"- MAP_ICM", "whose tables need more is a matter of their sizes"},
    {"- UNMAP_ICM", "ours all goes at the end"},
    {"- SET_PORT", "is its core driver's, and so before mlx4_ib's objects", 1},
    {"+ SET_PORT", "is its core driver's, and so before mlx4_ib's objects", 1},
    {"- DIAG_RPRT", "asks for counters that we don't show", 1},
    {"- QUERY_HCA", "asks for a clock that we don't use", 1},
    {"- CLOSE_PORT", "each of its drivers closes the port once more", 2},
};

// Of a step that both have, the n-th of each with the n-th.  "QP component":
// in whatever step of a queue pair.
constexpr Allowed kAllowedFields[] = {
    {"MAP_FA in", "memory lies as it comes"},
    {"MAP_FA log2size", "memory lies as it comes"},
    {"MAP_ICM in", "memory lies as it comes"},
    {"MAP_ICM log2size", "memory lies as it comes"},
    {"MAP_ICM va", "tables lie by their sizes"},
    {"MAP_ICM_AUX in", "memory lies as it comes"},
    {"MAP_ICM_AUX log2size", "memory lies as it comes"},
    {"UNMAP_ICM in", "memory lies as it comes"},
    {"UNMAP_ICM value", "tables lie by their sizes"},
    {"SET_ICM_SIZE value", "our tables are smaller"},
    {"INIT_HCA tables.qpc_base_addr", "our tables are smaller"},
    {"INIT_HCA tables.srqc_base_addr", "our tables are smaller"},
    {"INIT_HCA tables.cqc_base_addr", "our tables are smaller"},
    {"INIT_HCA tables.eqc_base_addr", "our tables are smaller"},
    {"INIT_HCA tables.altc_base_addr", "tables lie by their sizes"},
    {"INIT_HCA tables.auxc_base_addr", "tables lie by their sizes"},
    {"INIT_HCA tables.rdmardc_base_addr", "tables lie by their sizes"},
    {"INIT_HCA tables.mc_base_addr", "tables lie by their sizes"},
    {"INIT_HCA tables.mtt_base_addr", "tables lie by their sizes"},
    {"INIT_HCA tables.dmpt_base_adr", "tables lie by their sizes"},
    {"INIT_HCA tables.log_dmpt_sz", "our tables are smaller"},
    {"INIT_HCA tables.log_mc_table_sz", "our tables are smaller"},
    {"INIT_HCA tables.log_mc_table_hash_sz", "our tables are smaller"},
    {"SW2HW_EQ log_eq_size", "how many events may wait is ours to say"},
    {"MAP_EQ value", "we take no events of commands and of Ethernet"},
    {"CONF_SPECIAL_QP in", "the first of as many as firmware keeps"},
    {"SW2HW_MPT pd", "numbers of objects are chance"},
    {"SW2HW_MPT en_inv", "no request of ours invalidates it"},
    {"SW2HW_CQ c_eqn", "its completions have a queue of events of their own"},
    {"SW2HW_CQ log_cq_size", "one of ours is for all ports"},
    {"SW2HW_CQ mtt_base_addr", "translations lie as they come"},
    {"QP in", "numbers of objects are chance"},
    {"QP local_qpn", "numbers of objects are chance"},
    {"QP pd", "numbers of objects are chance"},
    {"QP log_sq_size", "how much may wait is ours to say"},
    {"QP log_sq_stride", "our requests have fewer pointers"},
    {"QP log_rq_stride", "our requests have fewer pointers"},
    {"QP mtt_base_addr", "translations lie as they come; we repeat it"},
    {"QP db_record_addr repeated", "we repeat it"},
    {"RST2INIT_QP 0 primary_address_path.counter_index",
     "we give the path from the first step", 1},
    {"RST2INIT_QP 0 primary_address_path.sched_queue",
     "we give the path from the first step", 1},
    {"RST2INIT_QP 2 primary_address_path.counter_index",
     "we give the path from the first step", 1},
    {"RST2INIT_QP 2 primary_address_path.sched_queue",
     "we give the path from the first step", 1},
    {"QP q_key repeated", "we repeat it"},
    {"QP primary_address_path.sched_queue repeated", "we repeat it"},
    {"QP primary_address_path.counter_index repeated", "we repeat it"},
    {"QP ack_req_freq", "is for acknowledged services"},
    {"QP fre", "no request of ours registers memory"},
    {"QP rlky", "no request of ours has the reserved key"},
};

// What is asked of the port's agent.
constexpr Allowed kMads[] = {
    {"- MAD_IFC class=0x1 attribute=0xff90", "a vendor's: extended speeds"},
    {"- MAD_IFC class=0x4 attribute=0x1", "whether counters have 64 bits"},
};

}  // namespace

class GoldenTraceTest : public Mlx4Lab {
 protected:
  // From Start() to the end.
  std::vector<std::string> TraceOurs() {
    std::vector<std::string> lines;
    model::CommandTrace trace(
        [&lines](std::string_view text) { lines.emplace_back(text); });
    Mlx4Machine& host = PlugIn();
    host.model.AddObserver(trace);
    const auto device = Start(host);
    RunFor(absl::Milliseconds(1), {device.get()});
    return lines;
  }

  const Trace linux_ = ParseTrace(ReadGolden("mlx4_driver.txt"));
  const Trace ours_ = ParseTrace(TraceOurs());
};

TEST(StepDifferencesTest, CountWhatIsRepeatedOrDropped) {
  const auto lines = [](std::initializer_list<const char*> steps) {
    std::vector<CommandLine> lines;
    for (const char* const step : steps) {
      lines.push_back({.step = step, .fields = {}});
    }
    return lines;
  };
  EXPECT_EQ(
      StepDifferences(lines({"A", "B", "B"}), lines({"A", "A", "A", "B"})),
      (Differences{{"+ A", 2}, {"- B", 1}}));
}

TEST_F(GoldenTraceTest, TakesTheStepsOfTheLinuxDriver) {
  ASSERT_GT(linux_.commands.size(), 30u);
  ExpectAllowed(StepDifferences(linux_.commands, ours_.commands),
                kAllowedSteps);
}

TEST_F(GoldenTraceTest, SaysInEachStepWhatTheLinuxDriverSays) {
  ExpectAllowed(FieldDifferences(linux_.commands, ours_.commands),
                kAllowedFields);
}

TEST_F(GoldenTraceTest, AsksThePortsAgentForWhatTheLinuxDriverAsksFor) {
  ExpectAllowed(SetDifferences(linux_.mads, ours_.mads), kMads);
}

TEST_F(GoldenTraceTest, KeepsOutOfTheProtectionDomainsOfFirmware) {
  constexpr int kReserved = 4;  // the model's num_rsvd_pd
  int seen = 0;
  for (const Trace* const trace : {&linux_, &ours_}) {
    for (const CommandLine& command : trace->commands) {
      const auto pd = command.fields.find("pd");
      if (pd == command.fields.end()) continue;
      ++seen;
      EXPECT_GE(std::stoi(pd->second, nullptr, 0), kReserved) << command.step;
    }
  }
  EXPECT_EQ(seen, 2 * 7) << "a region, and three steps of two queue pairs";
}

}  // namespace ibemu::hca::mlx4
