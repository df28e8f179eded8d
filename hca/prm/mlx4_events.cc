#include "hca/prm/mlx4_events.h"

namespace ibemu::hca::prm {

std::string_view Name(EventType type) {
  switch (type) {
    case EventType::kCompletion:
      return "completion";
    case EventType::kPathMigration:
      return "path_migration";
    case EventType::kCommunicationEstablished:
      return "communication_established";
    case EventType::kSendQueueDrained:
      return "send_queue_drained";
    case EventType::kCqError:
      return "completion_queue_error";
    case EventType::kWqCatastrophicError:
      return "work_queue_catastrophic_error";
    case EventType::kPathMigrationFailed:
      return "path_migration_failed";
    case EventType::kLocalCatastrophicError:
      return "local_catastrophic_error";
    case EventType::kPortChange:
      return "port_change";
    case EventType::kCommand:
      return "command";
    case EventType::kEqOverflow:
      return "event_queue_overflow";
    case EventType::kWqInvalidRequest:
      return "work_queue_invalid_request";
    case EventType::kWqAccessError:
      return "work_queue_access_error";
    case EventType::kSrqCatastrophicError:
      return "shared_receive_queue_catastrophic_error";
    case EventType::kSrqLastWqe:
      return "shared_receive_queue_last_wqe";
    case EventType::kSrqLimit:
      return "shared_receive_queue_limit";
    case EventType::kPortManagementChange:
      return "port_management_change";
  }
  return "?";
}

}  // namespace ibemu::hca::prm
