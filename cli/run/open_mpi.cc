#include "cli/run/open_mpi.h"

namespace ibemu::cli {

launch::Variables OpenMpiVariables() {
  return {
      // In place of Debian's "^ucx".  Without "cm", ucx and ob1 are left, and
      // ucx comes first if it finds an adapter.
      {"OMPI_MCA_pml", "^cm"},
      // Else "mlx*" and some more: names of drivers.
      {"OMPI_MCA_opal_common_ucx_devices", "any"},
  };
}

}  // namespace ibemu::cli
