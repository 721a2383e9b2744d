#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct account { pthread_mutex_t lock; long balance; char name[16]; };
struct account *accounts; int count = 2;
__attribute__((noinline)) static void transfer(struct account *from, struct account *to, long amount)
{ pthread_mutex_lock(&from->lock); if (from->balance >= amount) from->balance -= amount; else amount = 0; pthread_mutex_unlock(&from->lock);
  pthread_mutex_lock(&to->lock); to->balance += amount; pthread_mutex_unlock(&to->lock); }
__attribute__((noinline)) static long audit(void) { long sum = 0; for (int i = 0; i < count; i++) { pthread_mutex_lock(&accounts[i].lock); sum += accounts[i].balance; pthread_mutex_unlock(&accounts[i].lock); } return sum; }
static void *teller(void *a) { transfer(&accounts[0], &accounts[1], 10); return a; }
static void *auditor(void *a) { long s = audit(); if (s != 200) { fprintf(stderr, "sum %ld\n", s); abort(); } return a; }
int main(void) { accounts = calloc(2, sizeof *accounts); for (int i = 0; i < 2; i++) { pthread_mutex_init(&accounts[i].lock, 0); accounts[i].balance = 100; }
 pthread_t a, b; pthread_create(&a, 0, teller, 0); pthread_create(&b, 0, auditor, 0); pthread_join(a, 0); pthread_join(b, 0); puts("ok"); return 0; }
