// What an adapter says of itself, for people.
#ifndef IBEMU_HCA_MLX4_INQUIRY_TEXT_H_
#define IBEMU_HCA_MLX4_INQUIRY_TEXT_H_

#include <string>

#include "hca/mlx4/firmware.h"

namespace ibemu::hca::mlx4 {

// Lines of a name and a value, from what Firmware::Inquire() found.
std::string InquiryText(const Firmware& firmware);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_INQUIRY_TEXT_H_
