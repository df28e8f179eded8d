// How INIT_HCA lays the tables out in ICM.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_TABLE_LAYOUT_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_TABLE_LAYOUT_H_

#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_hca.h"

namespace ibemu::hca::model::mlx4 {

// Whether two tables share a byte, or one ends beyond all addresses.  INIT_HCA
// does not say how many MTTs there are: firmware's own count.  The logs must be
// within the limits of `cap`.
bool TablesOverlap(const prm::QueryDevCap& cap, const prm::HcaTables& tables);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_TABLE_LAYOUT_H_
