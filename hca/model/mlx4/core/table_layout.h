// TablesOverlap: a check of the tables that INIT_HCA lays out in ICM.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_TABLE_LAYOUT_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_TABLE_LAYOUT_H_

#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_hca.h"

namespace ibemu::hca::model::mlx4 {

// Returns true if two tables share a byte, or if one ends beyond all addresses.
// INIT_HCA does not give the number of MTTs, so only firmware's own ones count.
// REQUIRES: the logs are within the limits of `cap`.
bool TablesOverlap(const prm::QueryDevCap& cap, const prm::HcaTables& tables);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_TABLE_LAYOUT_H_
