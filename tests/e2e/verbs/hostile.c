// hostile WAY: clients of two adapters that die, let go of memory, or ask for
// what is not theirs, each at the worst moment.  Prints one line: what became of
// it.  See main() for the ways.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define LONG_MESSAGE ((size_t)1 << 30)
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static void fail(const char *what) {
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

struct end {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_cq *cq;
  struct ibv_qp *qp;
  struct ibv_mr *mr;
  char *memory;
};

// What the other end has to know.
struct address {
  uint16_t lid;
  uint32_t qp, key;
  uint64_t memory;
};

static struct ibv_context *open_adapter(int number) {
  int count = 0;
  struct ibv_device **devices = ibv_get_device_list(&count);
  if (devices == NULL || count <= number) fail("ibv_get_device_list");
  struct ibv_context *context = ibv_open_device(devices[number]);
  if (context == NULL) fail("ibv_open_device");
  return context;
}

static struct ibv_qp *make_qp(struct end *end) {
  struct ibv_qp_init_attr init = {.send_cq = end->cq,
                                  .recv_cq = end->cq,
                                  .cap = {4, 4, 1, 1, 0},
                                  .qp_type = IBV_QPT_RC};
  return ibv_create_qp(end->pd, &init);
}

// `memory` may be seen by others.
static void make_end(struct end *end, int number, char *memory) {
  end->context = open_adapter(number);
  end->pd = ibv_alloc_pd(end->context);
  end->cq = ibv_create_cq(end->context, 16, NULL, NULL, 0);
  end->memory = memory;
  end->mr = ibv_reg_mr(end->pd, memory, LONG_MESSAGE, ACCESS);
  if (end->pd == NULL || end->cq == NULL || end->mr == NULL) fail("objects");
  end->qp = make_qp(end);
  if (end->qp == NULL) fail("ibv_create_qp");
}

static struct address address_of(const struct end *end) {
  struct ibv_port_attr port;
  if (ibv_query_port(end->context, 1, &port) != 0) fail("ibv_query_port");
  return (struct address){port.lid, end->qp->qp_num, end->mr->rkey,
                          (uintptr_t)end->memory};
}

static void connect_to(struct end *end, const struct address *peer) {
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                             .port_num = 1,
                             .qp_access_flags = ACCESS};
  struct ibv_qp_attr receive = {.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_4096,
                                .dest_qp_num = peer->qp,
                                .max_dest_rd_atomic = 1,
                                .min_rnr_timer = 12,
                                .ah_attr = {.dlid = peer->lid, .port_num = 1}};
  struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS,
                             // Two seconds: a busy machine may hold the daemon
                             // up for some tenths of one.
                             .timeout = 14,
                             .retry_cnt = 7,
                             .rnr_retry = 3,
                             .max_rd_atomic = 1};
  if (ibv_modify_qp(end->qp, &init,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                        IBV_QP_ACCESS_FLAGS) != 0 ||
      ibv_modify_qp(end->qp, &receive,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                        IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) !=
          0 ||
      ibv_modify_qp(end->qp, &send,
                    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC) != 0) {
    fail("ibv_modify_qp");
  }
}

static void post_write(struct end *end, const struct address *to, size_t size) {
  struct ibv_sge piece = {(uintptr_t)end->memory, (uint32_t)size,
                          end->mr->lkey};
  struct ibv_send_wr request = {.sg_list = &piece,
                                .num_sge = 1,
                                .opcode = IBV_WR_RDMA_WRITE,
                                .send_flags = IBV_SEND_SIGNALED,
                                .wr.rdma = {to->memory, to->key}};
  struct ibv_send_wr *bad = NULL;
  if (ibv_post_send(end->qp, &request, &bad) != 0) fail("ibv_post_send");
}

static enum ibv_wc_status completion_of(struct end *end) {
  struct ibv_wc done;
  int count = 0;
  while ((count = ibv_poll_cq(end->cq, 1, &done)) == 0) {
  }
  if (count < 0) fail("ibv_poll_cq");
  return done.status;
}

// Private memory that was never written costs nothing.
static char *allocate(int sharing) {
  char *memory = mmap(NULL, LONG_MESSAGE, PROT_READ | PROT_WRITE,
                      sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  return memory;
}

static void tell(int to, const void *what, size_t size) {
  if (write(to, what, size) != (ssize_t)size) fail("a pipe");
}
static void hear(int from, void *what, size_t size) {
  if (read(from, what, size) != (ssize_t)size) fail("a pipe");
}

// Two processes; one writes a long message into the other's memory.
struct transfer {
  pid_t writer, target;
  char *source;       // the writer's
  char *destination;  // shared with us
  int way;            // 'u': the writer lets go of its memory in the middle
};

static pid_t start(void (*role)(struct transfer *, int, int),
                   struct transfer *transfer, int in, int out) {
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  role(transfer, in, out);
  _exit(0);
}

static void be_target(struct transfer *transfer, int in, int out) {
  struct end end;
  struct address ours, theirs;
  make_end(&end, 1, transfer->destination);
  ours = address_of(&end);
  tell(out, &ours, sizeof ours);
  hear(in, &theirs, sizeof theirs);
  connect_to(&end, &theirs);
  char go = 0;
  tell(out, &go, 1);
  while (read(in, &go, 1) == 1) {
    if (go == 'u') munmap(transfer->destination, LONG_MESSAGE);
  }
}

static int verdict_pipe[2];

static void be_writer(struct transfer *transfer, int in, int out) {
  struct end end;
  struct address ours, theirs;
  memset(transfer->source, 'x', 4096);
  make_end(&end, 0, transfer->source);
  ours = address_of(&end);
  tell(out, &ours, sizeof ours);
  hear(in, &theirs, sizeof theirs);
  connect_to(&end, &theirs);
  char go = 0;
  hear(in, &go, 1);
  post_write(&end, &theirs, LONG_MESSAGE);
  tell(verdict_pipe[1], &go, 1);
  if (transfer->way == 'u') {
    while (*(volatile char *)transfer->destination == 0) {
    }
    munmap(transfer->source, LONG_MESSAGE);
  }
  const int status = completion_of(&end);
  tell(verdict_pipe[1], &status, sizeof status);
}

// Of the writer's completion, when it comes.
static const char *verdict(void) {
  int status = 0;
  hear(verdict_pipe[0], &status, sizeof status);
  return ibv_wc_status_str((enum ibv_wc_status)status);
}

// `to_target` gets what be_target() should do next.
static void begin(struct transfer *transfer, int way, int *to_target) {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0 || pipe(verdict_pipe) != 0) {
    fail("pipe");
  }
  transfer->way = way;
  transfer->source = allocate(MAP_PRIVATE);
  transfer->destination = allocate(MAP_SHARED);
  transfer->target = start(be_target, transfer, there[0], back[1]);
  transfer->writer = start(be_writer, transfer, back[0], there[1]);
  char posted = 0;
  hear(verdict_pipe[0], &posted, 1);
  close(verdict_pipe[1]);
  while (*(volatile char *)transfer->destination == 0) {
  }
  *to_target = there[1];
}

static void end_both(struct transfer *transfer) {
  kill(transfer->writer, SIGKILL);
  kill(transfer->target, SIGKILL);
  while (wait(NULL) > 0) {
  }
}

static void in_the_middle(const char *way) {
  struct transfer transfer;
  int to_target = -1;
  begin(&transfer, strcmp(way, "unmap-source") == 0 ? 'u' : 0, &to_target);
  if (strcmp(way, "kill-writer") == 0) {
    kill(transfer.writer, SIGKILL);
    waitpid(transfer.writer, NULL, 0);
    puts("killed");
  } else if (strcmp(way, "kill-target") == 0) {
    kill(transfer.target, SIGKILL);
    puts(verdict());
  } else if (strcmp(way, "kill-both") == 0) {
    puts("killed");
  } else if (strcmp(way, "unmap-target") == 0) {
    tell(to_target, "u", 1);
    puts(verdict());
  } else if (strcmp(way, "unmap-source") == 0) {
    puts(verdict());
  } else if (strcmp(way, "stop-target") == 0) {
    kill(transfer.target, SIGSTOP);
    usleep(300000);
    kill(transfer.target, SIGCONT);
    puts(verdict());
  }
  end_both(&transfer);
}

// Writes with `key`, and to `distance` bytes behind the memory's begin.
static void with_key(struct end ends[2], uint32_t key, uint64_t distance) {
  struct address addresses[2] = {address_of(&ends[0]), address_of(&ends[1])};
  connect_to(&ends[0], &addresses[1]);
  connect_to(&ends[1], &addresses[0]);
  addresses[1].key = key;
  addresses[1].memory += distance;
  post_write(&ends[0], &addresses[1], 4096);
  puts(ibv_wc_status_str(completion_of(&ends[0])));
}

static void keys(const char *way) {
  struct end ends[2];
  make_end(&ends[0], 0, allocate(MAP_PRIVATE));
  make_end(&ends[1], 1, allocate(MAP_PRIVATE));
  struct ibv_pd *const other = ibv_alloc_pd(ends[1].context);
  if (strcmp(way, "key-of-other-pd") == 0) {
    with_key(ends, ibv_reg_mr(other, ends[1].memory, 4096, ACCESS)->rkey, 0);
  } else if (strcmp(way, "key-of-other-open") == 0) {
    struct ibv_pd *const pd = ibv_alloc_pd(open_adapter(1));
    with_key(ends, ibv_reg_mr(pd, ends[1].memory, 4096, ACCESS)->rkey, 0);
  } else if (strcmp(way, "key-of-dead-region") == 0) {
    struct ibv_mr *const mr =
        ibv_reg_mr(ends[1].pd, ends[1].memory, 4096, ACCESS);
    const uint32_t key = mr->rkey;
    ibv_dereg_mr(mr);
    with_key(ends, key, 0);
  } else if (strcmp(way, "key-beyond-its-end") == 0) {
    with_key(ends, ends[1].mr->rkey, LONG_MESSAGE - 4095);
  }
}

// As many queue pairs as it gets; leaves them all behind.
static void many_queue_pairs(void) {
  struct end end = {.context = open_adapter(0)};
  struct ibv_device_attr limits;
  if (ibv_query_device(end.context, &limits) != 0) fail("ibv_query_device");
  end.pd = ibv_alloc_pd(end.context);
  end.cq = ibv_create_cq(end.context, 16, NULL, NULL, 0);
  int count = 0;
  while (count <= limits.max_qp && make_qp(&end) != NULL) ++count;
  printf("%d of %d: %s\n", count, limits.max_qp, strerror(errno));
}

// The child goes on with what the parent opened, and lets it go in an order
// that has errors in it.
static void fork_and_exit(void) {
  struct end end;
  make_end(&end, 0, allocate(MAP_PRIVATE));
  int gone[2];
  if (pipe(gone) != 0) fail("pipe");
  if (fork() != 0) _exit(0);
  close(gone[1]);
  char nothing = 0;
  if (read(gone[0], &nothing, 1) != 0) fail("the parent");
  const int busy = ibv_dealloc_pd(end.pd);
  if (busy != EBUSY || ibv_destroy_cq(end.cq) != EBUSY) fail("order");
  if (ibv_destroy_qp(end.qp) != 0 || ibv_destroy_cq(end.cq) != 0 ||
      ibv_dereg_mr(end.mr) != 0 || ibv_dealloc_pd(end.pd) != 0) {
    fail("letting go");
  }
  ibv_close_device(end.context);
  puts("let go");
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  if (strncmp(argv[1], "key-", 4) == 0) {
    keys(argv[1]);
  } else if (strcmp(argv[1], "queue-pairs") == 0) {
    many_queue_pairs();
  } else if (strcmp(argv[1], "fork") == 0) {
    fork_and_exit();
  } else {
    in_the_middle(argv[1]);
  }
  return 0;
}
