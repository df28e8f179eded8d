// A program with an event loop: it waits for completions by epoll, and its
// completion channel does not block.  Two queue pairs send to each other.
//
//   before  asks for an event, then sends
//   after   sends, then asks for an event
//
// Then it waits for an event, takes all that there are ("before": asks for the
// next one), and polls until the queue is empty.  Prints how many messages
// came, and what the channel says when it is empty.
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

enum { ROUNDS = 50, PATIENCE = 20000 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static char buffer[64];

static struct ibv_qp *make(struct ibv_cq *cq) {
  struct ibv_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = cq,
                                  .qp_type = IBV_QPT_RC,
                                  .sq_sig_all = 1,
                                  .cap = {.max_send_wr = 4,
                                          .max_recv_wr = 4,
                                          .max_send_sge = 1,
                                          .max_recv_sge = 1}};
  return ibv_create_qp(pd, &init);
}

static int connect_to(struct ibv_qp *qp, const struct ibv_qp *peer,
                      uint16_t lid) {
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  if (ibv_modify_qp(qp, &to,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                        IBV_QP_ACCESS_FLAGS)) {
    return 1;
  }
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_1024;
  to.dest_qp_num = peer->qp_num;
  to.ah_attr.dlid = lid;
  to.ah_attr.port_num = 1;
  to.max_dest_rd_atomic = to.max_rd_atomic = 1;
  to.min_rnr_timer = 12;
  if (ibv_modify_qp(qp, &to,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                        IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
    return 1;
  }
  to.qp_state = IBV_QPS_RTS;
  to.timeout = 14;
  to.retry_cnt = to.rnr_retry = 7;
  return ibv_modify_qp(qp, &to,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                           IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                           IBV_QP_MAX_QP_RD_ATOMIC);
}

static int receive(struct ibv_qp *qp) {
  struct ibv_sge piece = {(uintptr_t)buffer, sizeof buffer, mr->lkey};
  struct ibv_recv_wr request = {.sg_list = &piece, .num_sge = 1}, *bad;
  return ibv_post_recv(qp, &request, &bad);
}

// The peer has the message when this returns.
static int send_one(struct ibv_qp *qp, struct ibv_cq *cq) {
  struct ibv_sge piece = {(uintptr_t)buffer, 8, mr->lkey};
  struct ibv_send_wr request = {.sg_list = &piece,
                                .num_sge = 1,
                                .opcode = IBV_WR_SEND},
                     *bad;
  struct ibv_wc completion;
  if (ibv_post_send(qp, &request, &bad)) return 1;
  int count;
  do count = ibv_poll_cq(cq, 1, &completion);
  while (count == 0);
  return count != 1 || completion.status != IBV_WC_SUCCESS;
}

// Takes all events; returns how many there were.  errno is the channel's then.
static int drain(struct ibv_comp_channel *channel) {
  struct ibv_cq *cq;
  void *of;
  int count = 0;
  while (ibv_get_cq_event(channel, &cq, &of) == 0) {
    ibv_ack_cq_events(cq, 1);
    ++count;
  }
  return count;
}

static int poll_all(struct ibv_cq *cq) {
  struct ibv_wc completion;
  int count = 0;
  while (ibv_poll_cq(cq, 1, &completion) == 1) {
    count += completion.status == IBV_WC_SUCCESS;
  }
  return count;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  const int before = strcmp(arguments[1], "before") == 0;
  struct ibv_device **devices = ibv_get_device_list(NULL);
  context = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
  struct ibv_port_attr port;
  if (!context || ibv_query_port(context, 1, &port)) return 1;
  pd = ibv_alloc_pd(context);
  mr = ibv_reg_mr(pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
  struct ibv_cq *quiet = ibv_create_cq(context, 8, NULL, NULL, 0);
  struct ibv_cq *watched = ibv_create_cq(context, 8, NULL, channel, 0);
  if (!mr || !quiet || !watched) return 1;
  struct ibv_qp *a = make(quiet), *b = make(watched);
  if (!a || !b || connect_to(a, b, port.lid) || connect_to(b, a, port.lid)) {
    return 1;
  }
  fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  const int loop = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(loop, EPOLL_CTL_ADD, channel->fd, &event);

  int came = 0;
  if (before && ibv_req_notify_cq(watched, 0)) return 1;
  for (int i = 0; i < ROUNDS; ++i) {
    if (receive(b) || send_one(a, quiet)) return 1;
    if (!before && ibv_req_notify_cq(watched, 0)) return 1;
    int got = 0;
    while (got == 0) {
      if (epoll_wait(loop, &event, 1, PATIENCE) != 1) {
        printf("round %d: no event\n", i);
        return 1;
      }
      if (drain(channel) < 1) return 1;
      if (before && ibv_req_notify_cq(watched, 0)) return 1;
      got = poll_all(watched);
    }
    came += got;
  }
  drain(channel);
  printf("%d came, then %s\n", came, strerror(errno));
  return 0;
}
