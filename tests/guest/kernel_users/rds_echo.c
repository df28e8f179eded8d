// rds_echo OWN: sends each message of RDS back to where it came from.
// rds_echo OWN PEER FILE: sends a file there, piece by piece, and compares what
// comes back.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { kPort = 4000, kPiece = 32 * 1024 };

static struct sockaddr_in address(const char* text, int port) {
  struct sockaddr_in found = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, text, &found.sin_addr) != 1) exit(2);
  return found;
}

static void die(const char* what) {
  perror(what);
  exit(1);
}

static void echo(int rds) {
  static char piece[kPiece];
  puts("waits");
  fflush(stdout);
  for (;;) {
    struct sockaddr_in from;
    socklen_t size = sizeof(from);
    const ssize_t got =
        recvfrom(rds, piece, sizeof(piece), 0, (struct sockaddr*)&from, &size);
    if (got < 0) die("recvfrom");
    if (sendto(rds, piece, got, 0, (struct sockaddr*)&from, size) != got) {
      die("sendto");
    }
  }
}

static void ask(int rds, const char* peer, const char* path) {
  static char sent[kPiece], came[kPiece];
  const struct sockaddr_in to = address(peer, kPort);
  FILE* const file = fopen(path, "rb");
  if (file == NULL) die(path);
  long total = 0;
  size_t size;
  while ((size = fread(sent, 1, sizeof(sent), file)) > 0) {
    if (sendto(rds, sent, size, 0, (const struct sockaddr*)&to, sizeof(to)) !=
        (ssize_t)size) {
      die("sendto");
    }
    if (recv(rds, came, sizeof(came), 0) != (ssize_t)size ||
        memcmp(sent, came, size) != 0) {
      die("another message came back");
    }
    total += size;
  }
  printf("%ld KiB came back as they went\n", total / 1024);
}

int main(int count, char** words) {
  if (count != 2 && count != 4) return 2;
  const int rds = socket(AF_RDS, SOCK_SEQPACKET, 0);
  if (rds < 0) die("socket");
  const struct sockaddr_in own = address(words[1], count == 2 ? kPort : 0);
  if (bind(rds, (const struct sockaddr*)&own, sizeof(own)) != 0) die("bind");
  if (count == 2) {
    echo(rds);
  } else {
    ask(rds, words[2], words[3]);
  }
  return 0;
}
