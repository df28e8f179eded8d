// keeper run PROGRAM: registers memory, and starts PROGRAM in its own place. A
// child that has the keys then lets the adapter write there, and says on its
// standard error how that went.
// keeper: what PROGRAM does, the same file at the same addresses: when its
// standard input ends, it says on its standard output what is in that memory.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

enum { PAGE = 4096 };
static char page[PAGE] __attribute__((aligned(PAGE))) = "untouched";
static char other[PAGE] __attribute__((aligned(PAGE))) = "overwritten";

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct ibv_qp *connect_to_itself(struct ibv_pd *pd, struct ibv_cq *cq) {
  struct ibv_qp_init_attr init = {
      .send_cq = cq,
      .recv_cq = cq,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
              .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC};
  struct ibv_qp *qp = ibv_create_qp(pd, &init);
  struct ibv_port_attr port;
  if (!qp || ibv_query_port(pd->context, 1, &port)) fail("ibv_create_qp");
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_INIT,
      .port_num = 1,
      .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
  if (ibv_modify_qp(qp, &attributes,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                        IBV_QP_ACCESS_FLAGS)) {
    fail("INIT");
  }
  attributes = (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTR,
      .path_mtu = IBV_MTU_1024,
      .dest_qp_num = qp->qp_num,
      .max_dest_rd_atomic = 1,
      .min_rnr_timer = 12,
      .ah_attr = {.dlid = port.lid, .port_num = 1}};
  if (ibv_modify_qp(qp, &attributes,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                        IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
    fail("RTR");
  }
  attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                    .timeout = 14,
                                    .retry_cnt = 7,
                                    .rnr_retry = 7,
                                    .max_rd_atomic = 1};
  if (ibv_modify_qp(qp, &attributes,
                    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC)) {
    fail("RTS");
  }
  return qp;
}

static void run(char *program) {
  int count = 0;
  struct ibv_device **devices = ibv_get_device_list(&count);
  struct ibv_context *context = count > 0 ? ibv_open_device(devices[0]) : NULL;
  if (!context) fail("ibv_open_device");
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
  if (!pd || !cq) fail("ibv_alloc_pd");
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  struct ibv_mr *to = ibv_reg_mr(pd, page, PAGE, access);
  struct ibv_mr *from = ibv_reg_mr(pd, other, PAGE, access);
  if (!to || !from) fail("ibv_reg_mr");
  struct ibv_qp *qp = connect_to_itself(pd, cq);

  int started[2], input[2];
  if (pipe(started) || pipe(input)) fail("pipe");
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child > 0) {
    // Its end of `started` goes with this program.
    if (dup2(input[0], STDIN_FILENO) < 0) fail("dup2");
    close(input[0]);
    close(input[1]);
    close(started[0]);
    if (fcntl(started[1], F_SETFD, FD_CLOEXEC)) fail("fcntl");
    execl(program, program, (char *)NULL);
    fail(program);
  }
  char byte = 0;
  close(started[1]);
  close(input[0]);
  if (read(started[0], &byte, 1) != 0) fail("read");
  struct ibv_sge piece = {(uintptr_t)other, PAGE, from->lkey};
  struct ibv_send_wr request = {
      .sg_list = &piece,
      .num_sge = 1,
      .opcode = IBV_WR_RDMA_WRITE,
      .send_flags = IBV_SEND_SIGNALED,
      .wr.rdma = {.remote_addr = (uintptr_t)page, .rkey = to->rkey}};
  struct ibv_send_wr *bad = NULL;
  if (ibv_post_send(qp, &request, &bad)) fail("ibv_post_send");
  struct ibv_wc completion;
  int got = 0;
  while ((got = ibv_poll_cq(cq, 1, &completion)) == 0) {
  }
  fprintf(stderr, "%s\n",
          got == 1 && completion.status == IBV_WC_SUCCESS ? "written" : "failed");
  exit(0);  // and the program's input ends
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "run") == 0) run(argv[2]);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  printf("%s, %s\n", page, geteuid() == getuid() ? "plain" : "set-uid");
  return 0;
}
