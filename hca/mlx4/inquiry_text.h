// What an adapter says of itself, for people.
#ifndef IBEMU_HCA_MLX4_INQUIRY_TEXT_H_
#define IBEMU_HCA_MLX4_INQUIRY_TEXT_H_

#include <string>

#include "hca/mlx4/core/firmware.h"

namespace ibemu::hca::mlx4 {

// Each component of the answer's table with its name, one in a line.
std::string AnswerText(const FirmwareAnswer& answer);
// Its bytes, 16 in a line, after the name of the command.
std::string AnswerDump(const FirmwareAnswer& answer);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_INQUIRY_TEXT_H_
