// Parts: the parts of the adapter that commands work on.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_PARTS_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_PARTS_H_

#include "hca/model/mlx4/core/core.h"
#include "hca/model/mlx4/core/memory_table.h"
#include "hca/model/mlx4/core/model_mcg_table.h"
#include "hca/model/mlx4/queues/completion_queues.h"
#include "hca/model/mlx4/queues/event_queues.h"
#include "hca/model/mlx4/queues/ports.h"
#include "hca/model/mlx4/queues/shared_receive_queues.h"
#include "hca/model/mlx4/transport/queue_pairs.h"

namespace ibemu::hca::model::mlx4 {

// References to the parts, which it does not own.
struct Parts {
  Core& core;
  EventQueues& events;
  CompletionQueues& completions;
  MemoryTable& memory;
  ModelMcgTable& multicast;
  SharedReceiveQueues& shared;
  QueuePairs& queue_pairs;
  Ports& ports;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_PARTS_H_
