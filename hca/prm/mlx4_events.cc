#include "hca/prm/mlx4_events.h"

namespace ibemu::hca::prm {

std::string_view Name(EqeType type) {
  switch (type) {
    case EqeType::kCompletion:
      return "completion";
    case EqeType::kPathMigration:
      return "path_migration";
    case EqeType::kCommunicationEstablished:
      return "communication_established";
    case EqeType::kSendQueueDrained:
      return "send_queue_drained";
    case EqeType::kCqError:
      return "completion_queue_error";
    case EqeType::kWqCatastrophicError:
      return "work_queue_catastrophic_error";
    case EqeType::kPathMigrationFailed:
      return "path_migration_failed";
    case EqeType::kLocalCatastrophicError:
      return "local_catastrophic_error";
    case EqeType::kPortChange:
      return "port_change";
    case EqeType::kCommand:
      return "command";
    case EqeType::kEqOverflow:
      return "event_queue_overflow";
    case EqeType::kWqInvalidRequest:
      return "work_queue_invalid_request";
    case EqeType::kWqAccessError:
      return "work_queue_access_error";
    case EqeType::kSrqCatastrophicError:
      return "shared_receive_queue_catastrophic_error";
    case EqeType::kSrqLastWqe:
      return "shared_receive_queue_last_wqe";
    case EqeType::kSrqLimit:
      return "shared_receive_queue_limit";
    case EqeType::kPortManagementChange:
      return "port_management_change";
  }
  return "?";
}

}  // namespace ibemu::hca::prm
