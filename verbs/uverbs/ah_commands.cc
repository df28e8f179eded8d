#include "verbs/uverbs/ah_commands.h"

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "verbs/uverbs/responses.h"

namespace ibemu::verbs {

AhCommands::AhCommands(CommandTable& table, Provider& provider,
                       ContextObjects& objects)
    : provider_(provider), objects_(objects) {
  table.Add<ib_uverbs_create_ah, ib_uverbs_create_ah_resp>(
      IB_USER_VERBS_CMD_CREATE_AH,
      [this](CommandCall& call) { return CreateAh(call); });
  table.Add<ib_uverbs_destroy_ah>(
      IB_USER_VERBS_CMD_DESTROY_AH,
      [this](CommandCall& call) { return DestroyAh(call); });
}

absl::Status AhCommands::CreateAh(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_create_ah>(call.request);
  IBEMU_ASSIGN_OR_RETURN(PdObject * pd,
                         FindObject(objects_.pds, request.pd_handle));
  auto object = std::make_unique<AhObject>();
  IBEMU_ASSIGN_OR_RETURN(object->ah, provider_.CreateAh(*pd->pd, request.attr));
  object->pd = Use(pd->users);
  object->attributes = request.attr;
  auto response = Blank<ib_uverbs_create_ah_resp>();
  response.ah_handle = objects_.ahs.Add(std::move(object));
  call.response = ToVector(response);
  call.undo = [this, handle = response.ah_handle] {
    TakeBack(objects_.ahs, handle);
  };
  return absl::OkStatus();
}

absl::Status AhCommands::DestroyAh(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_destroy_ah>(call.request);
  if (objects_.ahs.Remove(request.ah_handle) == nullptr) {
    return BadHandle(request.ah_handle);
  }
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
