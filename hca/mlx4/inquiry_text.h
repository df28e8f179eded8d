// An adapter's answers about itself, as text for people.
#ifndef IBEMU_HCA_MLX4_INQUIRY_TEXT_H_
#define IBEMU_HCA_MLX4_INQUIRY_TEXT_H_

#include <string>

#include "hca/mlx4/core/firmware_client.h"

namespace ibemu::hca::mlx4 {

// Returns each component of the answer's table with its name, one per line.
std::string AnswerText(const FirmwareAnswer& answer);
// Returns the answer's bytes, 16 per line, after the name of the command.
std::string AnswerDump(const FirmwareAnswer& answer);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_INQUIRY_TEXT_H_
