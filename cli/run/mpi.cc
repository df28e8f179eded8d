#include "cli/run/mpi.h"

#include <algorithm>
#include <iterator>

namespace ibemu::cli {
namespace {

constexpr char kOpenMpiAgent[] = "OMPI_MCA_plm_rsh_agent";
// By which program, and by which kind of it; each has an older name.
constexpr const char* kHydra[] = {"HYDRA_LAUNCHER_EXEC", "HYDRA_LAUNCHER",
                                  "HYDRA_BOOTSTRAP_EXEC", "HYDRA_BOOTSTRAP"};

}  // namespace

launch::Variables MpiVariables(
    const std::string& ssh, absl::FunctionRef<bool(const char* name)> is_set) {
  launch::Variables variables;
  const auto add = [&](const char* name, const std::string& value) {
    if (!is_set(name)) variables.emplace_back(name, value);
  };
  // In place of Debian's "^ucx".  Without "cm", ucx and ob1 are left, and ucx
  // comes first if it finds an adapter.
  add("OMPI_MCA_pml", "^cm");
  // Else "mlx*" and some more: names of drivers.
  add("OMPI_MCA_opal_common_ucx_devices", "any");
  if (ssh.empty()) return variables;
  // Open MPI would take a path apart there, and end if it finds no program.
  if (ssh.find_first_of(" :") == ssh.npos) add(kOpenMpiAgent, ssh);
  if (std::ranges::none_of(kHydra, is_set)) {
    variables.emplace_back(kHydra[0], ssh);
    variables.emplace_back(kHydra[1], "ssh");
  }
  return variables;
}

}  // namespace ibemu::cli
