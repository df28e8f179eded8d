// threads: several threads use one context at the same time.  Each talks to
// itself over queue pairs of its own, but all share the queue of completions, or
// make and destroy objects meanwhile.  Prints how many messages came as they
// were sent.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

enum { TALKERS = 3, MAKERS = 2, MESSAGES = 500, BYTES = 64 };

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct ibv_cq *completions;  // of all
static struct ibv_port_attr port;
static atomic_int received[TALKERS], sent[TALKERS], ended;

static void fail(const char *what) {
  printf("%s\n", what);
  exit(1);
}

static void *check(void *pointer, const char *what) {
  if (pointer == NULL) fail(what);
  return pointer;
}

// What comes may be somebody else's: work requests have the talker's number.
static void poll_once(struct ibv_cq *queue) {
  struct ibv_wc found[4];
  const int count = ibv_poll_cq(queue, 4, found);
  if (count < 0) fail("poll");
  for (int i = 0; i < count; ++i) {
    if (found[i].status != IBV_WC_SUCCESS) fail("a completion");
    if (found[i].opcode == IBV_WC_RECV) {
      ++received[found[i].wr_id];
    } else {
      ++sent[found[i].wr_id];
    }
  }
}

static void connect_to(struct ibv_qp *pair, uint32_t other) {
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  if (ibv_modify_qp(pair, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                   IBV_QP_ACCESS_FLAGS)) {
    fail("INIT");
  }
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_1024;
  to.dest_qp_num = other;
  to.max_dest_rd_atomic = 1;
  to.min_rnr_timer = 12;
  to.ah_attr.dlid = port.lid;
  to.ah_attr.port_num = 1;
  if (ibv_modify_qp(pair, &to, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                                   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                   IBV_QP_MAX_DEST_RD_ATOMIC |
                                   IBV_QP_MIN_RNR_TIMER)) {
    fail("RTR");
  }
  to.qp_state = IBV_QPS_RTS;
  to.timeout = 14;
  to.retry_cnt = to.rnr_retry = 7;
  to.max_rd_atomic = 1;
  if (ibv_modify_qp(pair, &to, IBV_QP_STATE | IBV_QP_TIMEOUT |
                                   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)) {
    fail("RTS");
  }
}

static void *talk(void *argument) {
  const uint64_t own = (uintptr_t)argument;
  char memory[2][BYTES];
  struct ibv_mr *region = check(
      ibv_reg_mr(domain, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE), "MR");
  struct ibv_qp *pairs[2];
  for (int i = 0; i < 2; ++i) {
    struct ibv_qp_init_attr init = {
        .send_cq = completions, .recv_cq = completions, .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1,
                .max_recv_sge = 1}};
    pairs[i] = check(ibv_create_qp(domain, &init), "QP");
  }
  connect_to(pairs[0], pairs[1]->qp_num);
  connect_to(pairs[1], pairs[0]->qp_num);
  uintptr_t intact = 0;
  for (int message = 1; message <= MESSAGES; ++message) {
    memset(memory[0], (int)own * 64 + message % 64, BYTES);
    struct ibv_sge to = {(uintptr_t)memory[1], BYTES, region->lkey};
    struct ibv_sge from = {(uintptr_t)memory[0], BYTES, region->lkey};
    struct ibv_recv_wr receive = {.wr_id = own, .sg_list = &to, .num_sge = 1};
    struct ibv_send_wr send = {.wr_id = own, .sg_list = &from, .num_sge = 1,
                               .opcode = IBV_WR_SEND};
    struct ibv_recv_wr *bad_receive;
    struct ibv_send_wr *bad_send;
    if (ibv_post_recv(pairs[1], &receive, &bad_receive)) fail("receive");
    if (ibv_post_send(pairs[0], &send, &bad_send)) fail("send");
    while (received[own] < message || sent[own] < message) {
      poll_once(completions);
    }
    intact += memcmp(memory[0], memory[1], BYTES) == 0;
  }
  for (int i = 0; i < 2; ++i) {
    if (ibv_destroy_qp(pairs[i])) fail("destroying a QP");
  }
  if (ibv_dereg_mr(region)) fail("deregistering");
  return (void *)intact;
}

static void *make(void *argument) {
  char memory[8192];
  uintptr_t rounds = 0;
  for (; ended < TALKERS; ++rounds) {
    struct ibv_pd *pd = check(ibv_alloc_pd(context), "PD");
    struct ibv_cq *cq = check(ibv_create_cq(context, 4, NULL, NULL, 0), "CQ");
    struct ibv_mr *mr = check(
        ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE), "MR");
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
                .max_recv_sge = 1}};
    struct ibv_qp *qp = check(ibv_create_qp(pd, &init), "QP");
    struct ibv_wc none;
    if (ibv_poll_cq(cq, 1, &none) != 0) fail("a completion of nobody's");
    if (ibv_destroy_qp(qp) || ibv_dereg_mr(mr) || ibv_destroy_cq(cq) ||
        ibv_dealloc_pd(pd)) {
      fail("destroying");
    }
  }
  (void)argument;
  return (void *)rounds;
}

int main(void) {
  struct ibv_device **devices = ibv_get_device_list(NULL);
  context = check(ibv_open_device(check(devices[0], "device")), "context");
  domain = check(ibv_alloc_pd(context), "PD");
  completions = check(ibv_create_cq(context, 100, NULL, NULL, 0), "CQ");
  if (ibv_query_port(context, 1, &port)) fail("port");
  pthread_t talkers[TALKERS], makers[MAKERS];
  for (uintptr_t i = 0; i < TALKERS; ++i) {
    pthread_create(&talkers[i], NULL, talk, (void *)i);
  }
  for (int i = 0; i < MAKERS; ++i) pthread_create(&makers[i], NULL, make, NULL);
  int whole = 1;
  for (int i = 0; i < TALKERS; ++i) {
    void *intact;
    pthread_join(talkers[i], &intact);
    ++ended;
    printf("%d ", (int)(uintptr_t)intact);
  }
  for (int i = 0; i < MAKERS; ++i) {
    void *rounds;
    pthread_join(makers[i], &rounds);
    whole = whole && rounds != NULL;
  }
  printf("%s\n", whole ? "and more" : "alone");
  return 0;
}
