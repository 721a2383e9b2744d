/* The Barnes-Hut kernel of SPLASH-2 with its missing wait. For bench/experiments. Arguments: bodies and time steps (64
 * and 2).
 *
 * Source: the PCT paper, tables 1 to 3: "Splash-Barnes". The kernel is the hierarchical n-body method as in Woo, Ohara,
 *   Torrie, Singh and Gupta ("The SPLASH-2 programs", 1995): in each time step all processes put their bodies into one
 *   octree, looking without a lock and changing a cell under its own; the centres of mass are found from below; the
 *   forces on each body come from walking the tree, far cells taken as one body; bodies move. Barriers between.
 * It computes: positions after each run are compared with those that one thread gets by itself. (An octree does not
 *   depend on the order of its insertions, nor do the sums, so they are the same to the last bit.)
 * Bug: the wait of the main process for the end of the others is missing. Main adds up the processes' parts of the
 *   kinetic energy while another one has not yet stored its own.
 * Depth 1: (main reads the part) before (the worker stores it).
 * Shows as: a failed assertion: the sum is not the energy.
 * FIXED: main waits. */
#include "point.h"

enum { PROCESSES = 2, MAX_BODIES = 1024, MAX_CELLS = 8 * MAX_BODIES, LOCKS = 64, MAX_TIME_STEPS = 100 };
static const double opening = 0.7, softening = 0.05, time_step = 0.01, root_size = 8; /* the root: a cube about 0 */

struct vector {
    double at[3];
};

struct body {
    struct vector position, velocity, force;
    double mass;
};

/* What a child may be: nothing (0), cell number c (c), body number b (-1 - b). The root is cell 0, nobody's child. */
struct cell {
    sem_t point; /* of its children */
    _Atomic int child[8];
    struct vector centre; /* of mass */
    double mass;
};

/* One run of the method; a second one, by one thread, for comparison. */
struct world {
    struct body body[MAX_BODIES];
    struct cell cell[MAX_CELLS];
    sem_t cells_point;
    _Atomic int cells;
    bool alone; /* no other thread: no locks, no barriers */
};

static int bodies, time_steps;
static struct world together, reference = { .alone = true };
static pthread_mutex_t cell_lock[LOCKS];
static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int next_id;
static struct {
    sem_t point;
    _Atomic double value;
} energy[PROCESSES];

static void wait_for_all(const struct world *w)
{
    if (!w->alone)
        pthread_barrier_wait(&barrier);
}

/* Which eighth of a cube about `middle` the position is in. */
static int octant(const struct vector *middle, const struct vector *position)
{
    int result = 0;
    for (int i = 0; i < 3; i++)
        result |= (position->at[i] >= middle->at[i]) << i;
    return result;
}

/* Moves the middle of a cube of size 4 * quarter to that of its eighth. */
static void descend(struct vector *middle, int eighth, double quarter)
{
    for (int i = 0; i < 3; i++)
        middle->at[i] += eighth >> i & 1 ? quarter : -quarter;
}

static int read_child(struct world *w, int cell, int eighth)
{
    if (!w->alone)
        memory_point(&w->cell[cell].point);
    return w->cell[cell].child[eighth];
}

/* Puts `next` there if the child still is what it was when it was read. */
static bool change_child(struct world *w, int cell, int eighth, int before, int next)
{
    pthread_mutex_t *lock = w->alone ? NULL : &cell_lock[cell % LOCKS];
    if (lock)
        pthread_mutex_lock(lock);
    bool same = w->cell[cell].child[eighth] == before;
    if (same)
        w->cell[cell].child[eighth] = next;
    if (lock)
        pthread_mutex_unlock(lock);
    return same;
}

/* A new cell with one body in it, in a cube about `middle`. */
static int make_cell(struct world *w, const struct vector *middle, int body)
{
    if (!w->alone)
        memory_point(&w->cells_point);
    int cell = w->cells++;
    if (cell >= MAX_CELLS) {
        fputs("barnes: too many cells: bodies are too close\n", stderr);
        exit(SETUP_FAILED);
    }
    for (int i = 0; i < 8; i++)
        w->cell[cell].child[i] = 0;
    w->cell[cell].child[octant(middle, &w->body[body].position)] = -1 - body;
    return cell;
}

static void insert(struct world *w, int body)
{
    struct vector middle = { { 0, 0, 0 } };
    int cell = 0;
    double quarter = root_size / 4;
    for (;;) {
        int eighth = octant(&middle, &w->body[body].position), child = read_child(w, cell, eighth);
        if (child == 0) {
            if (change_child(w, cell, eighth, 0, -1 - body))
                return;
        } else if (child > 0) {
            descend(&middle, eighth, quarter);
            quarter /= 2;
            cell = child;
        } else {
            struct vector lower = middle;
            descend(&lower, eighth, quarter);
            change_child(w, cell, eighth, child, make_cell(w, &lower, -1 - child));
        }
    }
}

static void add_mass(struct vector *centre, double *mass, const struct vector *position, double more)
{
    *mass += more;
    for (int i = 0; i < 3; i++)
        centre->at[i] += more * position->at[i];
}

static void find_centre(struct world *w, int cell)
{
    struct cell *c = &w->cell[cell];
    c->mass = 0;
    c->centre = (struct vector){ { 0, 0, 0 } };
    for (int i = 0; i < 8; i++) {
        int child = c->child[i];
        if (child > 0) {
            find_centre(w, child);
            add_mass(&c->centre, &c->mass, &w->cell[child].centre, w->cell[child].mass);
        } else if (child < 0)
            add_mass(&c->centre, &c->mass, &w->body[-1 - child].position, w->body[-1 - child].mass);
    }
    for (int i = 0; i < 3; i++)
        c->centre.at[i] /= c->mass;
}

static double distance_squared(const struct vector *a, const struct vector *b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (a->at[i] - b->at[i]) * (a->at[i] - b->at[i]);
    return sum;
}

static void attract(struct body *b, const struct vector *by, double mass)
{
    double squared = distance_squared(&b->position, by) + softening * softening;
    for (int i = 0; i < 3; i++)
        b->force.at[i] += mass * (by->at[i] - b->position.at[i]) / (squared * sqrt(squared));
}

static void walk(struct world *w, int body, int cell, double size)
{
    for (int i = 0; i < 8; i++) {
        int child = w->cell[cell].child[i];
        if (child < 0 && -1 - child != body)
            attract(&w->body[body], &w->body[-1 - child].position, w->body[-1 - child].mass);
        if (child <= 0)
            continue;
        double squared = distance_squared(&w->body[body].position, &w->cell[child].centre);
        if (size / 2 * (size / 2) < opening * opening * squared)
            attract(&w->body[body], &w->cell[child].centre, w->cell[child].mass);
        else
            walk(w, body, child, size / 2);
    }
}

static void move(struct body *b)
{
    for (int i = 0; i < 3; i++) {
        b->velocity.at[i] += time_step * b->force.at[i];
        b->position.at[i] += time_step * b->velocity.at[i];
    }
}

/* Its share of the work. Returns the kinetic energy of its bodies. */
static double run_process(struct world *w, int id, int processes)
{
    int first = bodies * id / processes, last = bodies * (id + 1) / processes;
    for (int step = 0; step < time_steps; step++) {
        if (id == 0) {
            w->cells = 1;
            for (int i = 0; i < 8; i++)
                w->cell[0].child[i] = 0;
        }
        wait_for_all(w);
        for (int i = first; i < last; i++)
            insert(w, i);
        wait_for_all(w);
        /* The centre of the root is nowhere needed. */
        for (int i = id; i < 8; i += processes)
            if (w->cell[0].child[i] > 0)
                find_centre(w, w->cell[0].child[i]);
        wait_for_all(w);
        for (int i = first; i < last; i++) {
            w->body[i].force = (struct vector){ { 0, 0, 0 } };
            walk(w, i, 0, root_size);
        }
        wait_for_all(w);
        for (int i = first; i < last; i++)
            move(&w->body[i]);
    }
    wait_for_all(w);
    double sum = 0;
    for (int i = first; i < last; i++)
        sum += w->body[i].mass / 2 * distance_squared(&w->body[i].velocity, &(struct vector){ { 0, 0, 0 } });
    return sum;
}

static void *start_process(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&id_lock);
    int id = next_id++;
    pthread_mutex_unlock(&id_lock);
    double sum = run_process(&together, id, PROCESSES);
    memory_point(&energy[id].point);
    energy[id].value = sum;
    return NULL;
}

/* Somewhere in the middle of the root, and at rest. */
static void make_bodies(void)
{
    for (int i = 0; i < bodies; i++) {
        struct body *b = &together.body[i];
        b->mass = 1.0 / bodies;
        for (int j = 0; j < 3; j++)
            b->position.at[j] = sin(1 + 12.9898 * i + 78.233 * j * (i + 1));
        reference.body[i] = *b;
    }
}

int main(int argc, char **argv)
{
    bodies = argument(argc, argv, 1, 64, PROCESSES, MAX_BODIES);
    time_steps = argument(argc, argv, 2, 2, 1, MAX_TIME_STEPS);
    make_bodies();
    setup_check(pthread_barrier_init(&barrier, NULL, PROCESSES), "cannot make a barrier");
    for (int i = 0; i < LOCKS; i++)
        setup_check(pthread_mutex_init(&cell_lock[i], NULL), "cannot make a lock");
    for (int id = 0; id < PROCESSES; id++)
        energy[id].value = NAN; /* not yet there */
    pthread_t worker = thread_start(start_process, NULL);
    start_process(NULL);
#ifdef FIXED
    thread_join(worker);
#else
    (void)worker;
#endif
    double right = run_process(&reference, 0, 1), sum = 0;
    local_work(REPORT);
    for (int id = 0; id < PROCESSES; id++) {
        memory_point(&energy[id].point);
        sum += energy[id].value;
    }
    bool sum_is_right = fabs(sum - right) <= 1e-12 * right;
    assert(sum_is_right);
    for (int i = 0; i < bodies; i++)
        if (memcmp(&together.body[i].position, &reference.body[i].position, sizeof(struct vector)) != 0) {
            fprintf(stderr, "%s: body %d is at another place\n", argv[0], i);
            return SETUP_FAILED;
        }
    return 0;
}
/* build: -lm */
