// Any text is either refused with its mistakes, or a lab whose programs can all
// start.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/lab/lab_parser.h"
#include "cli/lab/lab_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibemu;
  topology::FaultList faults;
  const cli::LabPlan plan =
      cli::ParseLab({reinterpret_cast<const char*>(data), size}, "lab", faults);
  if (!faults.empty()) return 0;
  if (plan.programs.empty()) std::abort();
  cli::LabState lab(plan);
  size_t started = 0;
  for (std::vector<size_t> starts; !(starts = lab.TakeStarts()).empty();) {
    started += starts.size();
    for (const size_t program : starts) {
      const cli::LabProgram& one = plan.programs[program];
      if (one.ready) lab.OnLine(program, *one.ready);
      // A service that ends would end the lab.
      if (one.kind != cli::LabProgram::Kind::kService) lab.OnEnd(program, 0);
    }
  }
  // A lab is over with its commands, even if a service still waits for them.
  const bool all = started == plan.programs.size();
  if (!lab.ending() && !(all && lab.up())) std::abort();
  lab.Stop(1, "the end");
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    if (lab.running(i)) lab.OnEnd(i, 0);
  }
  if (!lab.ended()) std::abort();
  return 0;
}
