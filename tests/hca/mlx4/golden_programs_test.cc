// Our driver's commands for programs' objects against those of the Linux
// driver, which a guest has recorded: tests/guest/golden/mlx4_programs.txt.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hca/model/mlx4/core/command_trace.h"
#include "tests/hca/mlx4/command_lines.h"
#include "tests/hca/mlx4/golden.h"
#include "tests/hca/mlx4/verbs_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

// "-": the Linux driver's alone, "+": ours alone, and how often in all.
constexpr Allowed kSteps[] = {
    {"- SW2HW_MPT", "keys of programs are software's", 4},
    {"- HW2SW_MPT", "keys of programs are software's", 4},
    {"- SW2HW_CQ", "each queue pair has its own, which is made with it", 1},
    {"+ SW2HW_CQ", "each queue pair has its own, which is made with it", 1},
    {"- HW2SW_SRQ", "our completion queue goes before it", 1},
    {"+ HW2SW_SRQ", "our completion queue goes before it", 1},
    {"+ 2ERR_QP", "hands a shared request back of which half was used", 1},
};
// "QP component": in whatever step of a queue pair.
constexpr Allowed kFields[] = {
    {"SW2HW_CQ c_eqn", "we have one queue for all events"},
    {"SW2HW_CQ log_cq_size", "it has room for all that may be posted"},
    {"QP log_sq_size", "how much may wait is ours to say"},
    {"QP msg_max", "the longest message is ours to say"},
    {"QP log_rq_size", "it has none where one is shared: nobody looks"},
    {"QP log_rq_stride", "it has none where one is shared: nobody looks"},
    {"QP ?0x9", "it has none where one is shared: nobody looks"},
    {"QP db_record_addr repeated", "we repeat it"},
    {"RST2INIT_QP primary_address_path.counter_index",
     "we give the path from the first step", 4},
    {"RST2INIT_QP primary_address_path.sched_queue",
     "we give the path from the first step", 4},
    {"QP q_key repeated", "we repeat it"},
    {"RST2INIT_QP mtu", "we begin with the longest, UD has no other", 3},
    {"QP mtu repeated", "we repeat it"},
    {"QP min_rnr_nak repeated", "we repeat it"},
    {"QP primary_address_path.counter_index repeated", "we repeat it"},
    {"QP primary_address_path.rlid repeated", "we repeat it"},
    {"QP primary_address_path.sched_queue repeated", "we repeat it"},
};

// What the recording leaves out.
const std::set<std::string> kChance = {"in",
                                       "pd",
                                       "usr_page",
                                       "mem_key",
                                       "local_qpn",
                                       "remote_qpn",
                                       "cqn_snd",
                                       "cqn_rcv",
                                       "srqn",
                                       "next_send_psn",
                                       "next_rcv_psn",
                                       "start_address",
                                       "mtt_addr",
                                       "mtt_base_addr",
                                       "entity_size",
                                       "log_page_size",
                                       "log2_page_size",
                                       "page_offset"};

struct Program {
  std::string name;
  VerbsEnd::Options options;
};

std::vector<Program> Programs() {
  constexpr verbs::QpCapacity kCapacity{.send_requests = 1,
                                        .receive_requests = 100,
                                        .send_sges = 1,
                                        .receive_sges = 1,
                                        .inline_bytes = 0};
  using enum verbs::QpType;
  return {{"ibv_rc_pingpong", {.type = kRc, .capacity = kCapacity}},
          {"ibv_uc_pingpong", {.type = kUc, .capacity = kCapacity}},
          {"ibv_ud_pingpong", {.type = kUd, .capacity = kCapacity}},
          {"ibv_srq_pingpong",
           {.type = kRc,
            .capacity = kCapacity,
            .shared = true,
            .srq_requests = 100}}};
}

void Add(const Differences& more, Differences& to) {
  for (const auto& [difference, times] : more) to[difference] += times;
}

// As these programs have it.
verbs::QpAttributes Attributes(uint32_t qpn, uint16_t lid) {
  verbs::QpAttributes to{};
  to.port_num = 1;
  to.qkey = 0x11111111;
  to.path_mtu = 3;
  to.dest_qp_num = qpn;
  to.ah_attr.dlid = lid;
  to.ah_attr.port_num = 1;
  to.max_rd_atomic = to.max_dest_rd_atomic = 1;
  to.timeout = 14;
  to.retry_cnt = to.rnr_retry = 7;
  to.min_rnr_timer = 12;
  return to;
}

class GoldenProgramsTest : public VerbsLab {
 protected:
  GoldenProgramsTest() { host_b_.model.AddObserver(trace_); }
  // What the driver says last is heard, too.
  ~GoldenProgramsTest() override { device_b_.reset(); }

  // Those of one program; each opcode is there once.
  static std::vector<CommandLine> Linux(const std::string& program) {
    std::vector<CommandLine> commands;
    bool here = false;
    for (const std::string& line : ReadGolden("mlx4_programs.txt")) {
      if (line.starts_with("PROGRAM ")) {
        here = line == "PROGRAM " + program;
      } else if (here) {
        commands.push_back(ParseCommandLine(line));
      }
    }
    return commands;
  }
  std::vector<CommandLine> Ours(const VerbsEnd::Options& options) {
    lines_.clear();
    VerbsEnd end(timers_, device_b_->provider(), options);
    end.Connect(Attributes(kPeer, LidOf(*device_a_)));
    end.Forget();
    Run();
    std::vector<CommandLine> commands;
    for (const std::string& line : lines_) {
      CommandLine command = ParseCommandLine(line);
      std::erase_if(command.fields, [](const auto& field) {
        return kChance.contains(field.first);
      });
      commands.push_back(std::move(command));
    }
    return commands;
  }

  static constexpr uint32_t kPeer = 0x123;  // who never says a word

  std::vector<std::string> lines_;
  model::CommandTrace trace_{
      [this](std::string_view text) { lines_.emplace_back(text); }};
};

TEST_F(GoldenProgramsTest, TakeTheStepsThatTheyTakeWithTheLinuxDriver) {
  Differences steps, fields;
  for (const Program& program : Programs()) {
    const std::vector<CommandLine> theirs = Linux(program.name);
    ASSERT_GE(theirs.size(), 8u) << program.name;
    const std::vector<CommandLine> ours = Ours(program.options);
    Add(StepDifferences(theirs, ours), steps);
    Add(FieldDifferences(theirs, ours), fields);
  }
  ExpectAllowed(steps, kSteps);
  ExpectAllowed(fields, kFields);
}

}  // namespace
}  // namespace ibemu::hca::mlx4
