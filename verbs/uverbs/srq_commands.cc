#include "verbs/uverbs/srq_commands.h"

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "verbs/uverbs/responses.h"

namespace ibemu::verbs {

SrqCommands::SrqCommands(CommandTable& table, Provider& provider,
                         ContextObjects& objects)
    : provider_(provider), objects_(objects) {
  table.Add<ib_uverbs_create_srq, ib_uverbs_create_srq_resp>(
      IB_USER_VERBS_CMD_CREATE_SRQ,
      [this](CommandCall& call) { return CreateSrq(call); });
  table.Add<ib_uverbs_modify_srq>(
      IB_USER_VERBS_CMD_MODIFY_SRQ,
      [this](CommandCall& call) { return ModifySrq(call); });
  table.Add<ib_uverbs_query_srq, ib_uverbs_query_srq_resp>(
      IB_USER_VERBS_CMD_QUERY_SRQ,
      [this](CommandCall& call) { return QuerySrq(call); });
  table.Add<ib_uverbs_destroy_srq, ib_uverbs_destroy_srq_resp>(
      IB_USER_VERBS_CMD_DESTROY_SRQ,
      [this](CommandCall& call) { return DestroySrq(call); });
}

absl::Status SrqCommands::CreateSrq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_create_srq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(PdObject * pd,
                         FindObject(objects_.pds, request.pd_handle));
  auto object =
      std::make_unique<SrqObject>(objects_.async, request.user_handle);
  IBEMU_ASSIGN_OR_RETURN(object->srq,
                         provider_.CreateSrq(*pd->pd,
                                             {.max_requests = request.max_wr,
                                              .max_sges = request.max_sge,
                                              .limit = request.srq_limit},
                                             *object));
  object->pd = Use(pd->users);
  const SrqAttributes attributes = object->srq->Query();
  auto response = Blank<ib_uverbs_create_srq_resp>();
  response.max_wr = attributes.max_requests;
  response.max_sge = attributes.max_sges;
  response.srq_handle = objects_.srqs.Add(std::move(object));
  call.response = ToVector(response);
  call.undo = [this, handle = response.srq_handle] {
    TakeBack(objects_.srqs, handle);
  };
  return absl::OkStatus();
}

absl::Status SrqCommands::ModifySrq(CommandCall& call) {
  constexpr uint32_t kMaxRequests = 1, kLimit = 2;  // enum ib_srq_attr_mask
  const auto request = ReadAs<ib_uverbs_modify_srq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(SrqObject * srq,
                         FindObject(objects_.srqs, request.srq_handle));
  if ((request.attr_mask & ~(kMaxRequests | kLimit)) != 0) {
    return absl::InvalidArgumentError("an unknown attribute");
  }
  if ((request.attr_mask & kMaxRequests) != 0) {
    IBEMU_RETURN_IF_ERROR(srq->srq->Resize(request.max_wr));
  }
  if ((request.attr_mask & kLimit) != 0) {
    IBEMU_RETURN_IF_ERROR(srq->srq->SetLimit(request.srq_limit));
  }
  return absl::OkStatus();
}

absl::Status SrqCommands::QuerySrq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_query_srq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const SrqObject* srq,
                         FindObject(objects_.srqs, request.srq_handle));
  const SrqAttributes attributes = srq->srq->Query();
  call.response =
      ToVector(ib_uverbs_query_srq_resp{.max_wr = attributes.max_requests,
                                        .max_sge = attributes.max_sges,
                                        .srq_limit = attributes.limit,
                                        .reserved = 0});
  return absl::OkStatus();
}

absl::Status SrqCommands::DestroySrq(CommandCall& call) {
  const auto request = ReadAs<ib_uverbs_destroy_srq>(call.request);
  IBEMU_ASSIGN_OR_RETURN(const SrqObject* srq,
                         FindObject(objects_.srqs, request.srq_handle));
  if (srq->users != 0) return StillUsed();
  call.response = ToVector(ib_uverbs_destroy_srq_resp{srq->events.delivered()});
  objects_.srqs.Remove(request.srq_handle);
  return absl::OkStatus();
}

}  // namespace ibemu::verbs
