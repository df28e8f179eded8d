#include "cli/run/mpi.h"

namespace ibemu::cli {

launch::Variables MpiVariables(const std::string& ssh) {
  launch::Variables variables = {
      // In place of Debian's "^ucx".  Without "cm", ucx and ob1 are left, and
      // ucx comes first if it finds an adapter.
      {"OMPI_MCA_pml", "^cm"},
      // Else "mlx*" and some more: names of drivers.
      {"OMPI_MCA_opal_common_ucx_devices", "any"},
  };
  if (!ssh.empty()) {
    variables.emplace_back("OMPI_MCA_plm_rsh_agent", ssh);
    variables.emplace_back("HYDRA_LAUNCHER_EXEC", ssh);
  }
  return variables;
}

}  // namespace ibemu::cli
