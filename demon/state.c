/* Recorded states: see state.h. */
#include "state.h"
#include <stdio.h>
#include <string.h>

/* --- Objects and cells -------------------------------------------------------------------------------------------- */

static void add_object(struct demon_model *m, const struct demon_variable *v, uint32_t root, uint32_t number)
{
    struct demon_object *o = &m->object[m->objects++];
    o->type = &v->type;
    o->place = (struct pct_demon_place){ .address = v->address, .root = root, .number = number };
    snprintf(o->name.name, sizeof o->name.name, "%s", v->name);
}

/* Where a run begins to look for others. */
static void put_roots(struct demon_model *m)
{
    struct pct_demon_map *map = &m->plan->map;
    for (int i = 0; i < m->objects; i++)
        map->root[map->roots++] =
            (struct pct_demon_known){ .place = m->object[i].place,
                                      .type = demon_pointers_type(&m->pointers, m->object[i].type->name) };
    for (uint32_t i = 0; i < m->pointers.heads && map->roots < PCT_DEMON_ROOTS; i++)
        map->root[map->roots++] =
            (struct pct_demon_known){ .place = { .address = m->pointers.head[i].address, .root = PCT_DEMON_GLOBAL },
                                      .type = m->pointers.head[i].type,
                                      .is = m->pointers.head[i].is };
    m->pointers.cut |= (uint32_t)m->objects + m->pointers.heads > PCT_DEMON_ROOTS;
}

/* The parameter of what others may call whose type has this name. NULL: there is none. */
static const struct demon_type *find_wanted_type(const struct demon_model *m, const char *name)
{
    for (int i = 0; i < m->spec->procs; i++)
        for (int k = 0; m->spec->proc[i].acts && k < m->spec->proc[i].parameters; k++)
            if (m->spec->proc[i].parameter[k].type.object && !strcmp(m->spec->proc[i].parameter[k].type.name, name))
                return &m->spec->proc[i].parameter[k].type;
    return NULL;
}

/* The parameter of what others may call that takes the address of this pointer. NULL: there is none. */
static const struct demon_type *find_taker(const struct demon_model *m, const struct demon_type *pointer)
{
    char name[DEMON_NAME + 2];
    snprintf(name, sizeof name, "%s%s", pointer->name, pointer->plain ? "*" : " *");
    return find_wanted_type(m, name);
}
/* What others know by a shared variable that is a pointer: itself, too. */
static void add_pointer(struct demon_model *m, const struct demon_variable *v)
{
    const struct demon_type *type = find_taker(m, &v->type);
    if (!type || m->objects == PCT_DEMON_ROOTS)
        return;
    struct demon_object *o = &m->object[m->objects++];
    o->type = type;
    o->place = (struct pct_demon_place){ .address = v->address, .root = PCT_DEMON_GLOBAL };
    snprintf(o->name.name, sizeof o->name.name, "&%s", v->name);
}

static void put_container(char name[DEMON_PATH], const char *inner, const char *structure, const char *member)
{
    char text[2 * DEMON_PATH + 2 * DEMON_NAME];
    snprintf(text, sizeof text, "container_of(%s, %s, %s)", inner, structure, member);
    snprintf(name, DEMON_PATH, "%.*s", DEMON_PATH - 1, text);
}

/* Of what a path says, in the map's numbers. declared: as of pct_demon_container(). */
static uint32_t container_of(const struct demon_model *m, const struct demon_container *c, bool declared)
{
    return pct_demon_container(demon_pointers_type(&m->pointers, c->structure),
                               demon_pointers_type(&m->pointers, c->link), c->member_offset, declared);
}

/* What has the member that a parameter of the test, or a shared variable, points to. */
static void add_container(struct demon_model *m, const struct demon_container *c)
{
    const bool is_parameter = c->parameter >= 0;
    const struct demon_type *type = find_wanted_type(m, c->structure);
    if ((!is_parameter && c->shared < 0) || !type || m->objects == PCT_DEMON_ROOTS)
        return;
    const struct demon_variable *v =
        is_parameter ? &m->spec->proc[0].parameter[c->parameter] : &m->spec->shared[c->shared];
    const uint32_t container = container_of(m, c, true);
    m->pointers.cut |= container == PCT_DEMON_NOT_SAID;
    struct demon_object *o = &m->object[m->objects++];
    o->type = type;
    o->place = (struct pct_demon_place){ .address = v->address,
                                         .container = { container },
                                         .root = is_parameter ? PCT_DEMON_TEST_ARGUMENT : PCT_DEMON_GLOBAL_POINTER,
                                         .number = is_parameter ? (uint32_t)c->parameter : 0,
                                         .offset = -(int32_t)c->member_offset };
    put_container(o->name.name, v->name, c->structure, c->member);
}

static void find_objects(struct demon_model *m)
{
    const struct demon_proc *test = &m->spec->proc[0];
    for (int i = 0; i < test->parameters; i++)
        if (test->parameter[i].type.object)
            add_object(m, &test->parameter[i], PCT_DEMON_TEST_ARGUMENT, (uint32_t)i);
    for (int i = 0; i < m->spec->shareds; i++)
        if (m->spec->shared[i].type.object)
            add_object(m, &m->spec->shared[i],
                       m->spec->shared[i].type.embedded ? PCT_DEMON_GLOBAL : PCT_DEMON_GLOBAL_POINTER, 0);
    for (int i = 0; i < m->spec->shareds; i++)
        if (m->spec->shared[i].type.object && !m->spec->shared[i].type.embedded)
            add_pointer(m, &m->spec->shared[i]);
    for (int i = 0; i < m->spec->containers; i++)
        add_container(m, &m->spec->container[i]);
}

static bool add_cell(struct demon_model *m, struct pct_demon_cell cell)
{
    struct pct_demon_plan *plan = m->plan;
    for (uint32_t i = 0; i < plan->cells; i++)
        if (!memcmp(&plan->cell[i], &cell, sizeof cell))
            return true;
    if (plan->cells == PCT_DEMON_CELLS)
        return false;
    plan->cell[plan->cells++] = cell;
    return true;
}

/* Of a shared variable that is no object: a number or a pointer. */
static struct pct_demon_place place_of(const struct demon_variable *v)
{
    return (struct pct_demon_place){ .address = v->address, .root = v->ghost ? PCT_DEMON_GHOST : PCT_DEMON_GLOBAL };
}

/* What a leaf names, in this object: its pointers, too. */
static bool add_path(struct demon_model *m, const struct demon_leaf *leaf, struct pct_demon_cell cell)
{
    const uint32_t size = cell.size, lock = cell.lock;
    struct pct_demon_place *place = &cell.place;
    bool fits = true;
    cell.size = sizeof(uint64_t);
    cell.lock = 0;
    for (uint32_t i = 0; i < leaf->steps; i++) {
        cell.offset = leaf->step[i];
        fits &= place->steps < PCT_DEMON_STEPS && add_cell(m, cell);
        if (!fits)
            return false;
        place->step[place->steps++] = place->offset + cell.offset;
        place->offset = 0;
    }
    cell.offset = leaf->offset;
    cell.size = size;
    cell.lock = lock;
    return add_cell(m, cell);
}

/* A leaf of this procedure: a place in each object of the type, and in what the procedure is called with. */
static bool add_leaf(struct demon_model *m, int proc, const struct demon_leaf *leaf, uint32_t lock)
{
    const struct demon_proc *of = &m->spec->proc[proc];
    struct pct_demon_cell cell = { .offset = leaf->offset, .size = leaf->size, .lock = lock, .function = UINT32_MAX };
    if (leaf->whole)
        return true;
    const struct demon_variable *v =
        leaf->parameter >= 0 ? &of->parameter[leaf->parameter] : &m->spec->shared[leaf->shared];
    const bool pointer = leaf->shared >= 0 && !v->type.embedded;
    bool fits = true;
    if (pointer) {
        cell.place = place_of(v);
        fits = add_path(m, leaf, cell);
    }
    if (!v->type.object || (pointer && demon_leaf_is_bare(leaf)))
        return fits;
    struct demon_leaf behind = *leaf; /* in the object: from a shared pointer that is one step */
    if (pointer)
        memmove(behind.step, behind.step + 1, --behind.steps * sizeof *behind.step);
    for (int i = 0; i < m->objects; i++)
        if (!strcmp(m->object[i].type->name, v->type.name)) {
            cell.place = m->object[i].place;
            fits &= add_path(m, &behind, cell);
        }
    if (leaf->parameter >= 0 && !of->is_line) { /* the parameters of a line are the test's */
        cell.place = (struct pct_demon_place){ .root = PCT_DEMON_CALL_ARGUMENT, .number = (uint32_t)leaf->parameter };
        for (uint32_t i = 0; i <= leaf->steps && i <= PCT_DEMON_STEPS; i++)
            if (leaf->container[i]) /* whatever a call is made with */
                cell.place.container[i] = container_of(m, &m->spec->container[leaf->container[i] - 1], false);
        cell.function = (uint32_t)proc;
        fits &= add_path(m, leaf, cell);
    }
    return fits;
}

static bool add_leaves(struct demon_model *m, int proc, const struct demon_expr *e)
{
    if (!e)
        return true;
    bool leaf = e->op == DEMON_LEAF || e->op == DEMON_UNCHANGED;
    leaf |= e->op == DEMON_HOLDS || e->op == DEMON_ADDRESS;
    const uint32_t lock = e->op == DEMON_HOLDS || e->op == DEMON_ADDRESS ? e->leaf.lock : 0;
    return (!leaf || add_leaf(m, proc, &e->leaf, lock)) && add_leaves(m, proc, e->a) && add_leaves(m, proc, e->b);
}

/* All cells of the objects; one that no contract speaks of has one that tells where it is. */
static bool add_cells(struct demon_model *m)
{
    bool fits = true;
    for (int i = 0; i < m->spec->procs; i++) {
        const struct demon_proc *proc = &m->spec->proc[i];
        for (int k = 0; k < proc->clauses; k++)
            fits &= add_leaves(m, i, proc->clause[k].expr);
        for (int k = 0; k < proc->frames; k++)
            fits &= add_leaf(m, i, &proc->frame[k], 0);
    }
    for (int i = 0; i < m->objects; i++)
        fits &= add_cell(
            m, (struct pct_demon_cell){
                   .place = m->object[i].place, .size = 1, .lock = PCT_DEMON_PRESENCE, .function = UINT32_MAX });
    return fits;
}

bool demon_model_prepare(struct demon_model *m, char *error, size_t size)
{
    find_objects(m);
    put_roots(m);
    m->plan->functions = (uint32_t)m->spec->procs;
    for (int i = 0; i < m->spec->procs; i++) {
        m->plan->function[i] = m->spec->proc[i].address;
        m->plan->lines |= (uint32_t)m->spec->proc[i].is_line << i;
    }
    const bool fits = add_cells(m);
    if (!fits)
        snprintf(error, size,
                 "%s: contracts speak of more than %d places in all; each member of each parameter is one: name fewer",
                 m->spec->name, PCT_DEMON_CELLS);
    return fits;
}

/* --- Objects that a run has found --------------------------------------------------------------------------------- */

static bool is_pointer(const struct demon_model *m, uint32_t type)
{
    const char *name = type < m->pointers.types ? m->pointers.type[type] : "";
    return *name && name[strlen(name) - 1] == '*';
}

/* "container_of(q.first, job, link)", of what stands there. */
static void name_container(const struct demon_model *m, const struct pct_demon_field *field, char name[DEMON_PATH])
{
    const char *member = "";
    for (int i = 0; i < m->spec->containers; i++)
        if (!strcmp(m->spec->container[i].structure, m->pointers.type[field->target]) &&
            m->spec->container[i].member_offset == field->length_offset)
            member = m->spec->container[i].member;
    put_container(name, name, m->pointers.type[field->target], member);
}

/* "bank.account[2]": as it was found. What is a pointer itself has & before it. */
static void name_found(const struct demon_model *m, const struct pct_demon_found *found, struct demon_object *object)
{
    char name[DEMON_PATH] = "";
    size_t length = 0;
    for (int i = 0; i < m->objects && !length; i++) {
        const struct pct_demon_place *root = &m->object[i].place;
        if (root->root == found->place.root && root->number == found->place.number &&
            root->address == found->place.address)
            length = (size_t)snprintf(name, DEMON_PATH, "%s", m->object[i].name.name);
    }
    for (uint32_t i = 0; i < found->hops && i < PCT_DEMON_HOPS && length < DEMON_PATH; i++) {
        const struct pct_demon_hop *hop = &found->hop[i];
        const struct pct_demon_field *field = &m->plan->map.field[hop->field];
        const char *member = m->pointers.name[hop->field];
        const bool to_pointer = is_pointer(m, field->target), from_pointer = !*member && is_pointer(m, field->type);
        if (from_pointer && *name == '&')
            memmove(name, name + 1, length--);
        else if (from_pointer)
            length += (size_t)snprintf(name + length, DEMON_PATH - length, "[0]");
        if (*member)
            length += (size_t)snprintf(name + length, DEMON_PATH - length, ".%s", member);
        if (length < DEMON_PATH && (field->count > 1 || (to_pointer && field->pointer)))
            length += (size_t)snprintf(name + length, DEMON_PATH - length, "[%u]", hop->element);
        if (length < DEMON_PATH && field->container) {
            name_container(m, field, name);
            length = strlen(name);
        }
        if (to_pointer && length + 1 < DEMON_PATH) {
            memmove(name + 1, name, ++length);
            *name = '&';
        }
    }
    memcpy(object->name.name, name, sizeof name);
}

/* Of this type, those that the test has not passed to a function. */
static int count_idle(const struct demon_model *m, const struct pct_demon_map *map, uint32_t type)
{
    int count = 0;
    for (uint32_t i = 0; i < map->founds; i++)
        count += map->found[i].type == type && !map->found[i].passed && m->taken >> i & 1;
    return count;
}

static bool take_found(struct demon_model *m, const struct pct_demon_map *map, uint32_t i)
{
    enum { MOST_IDLE = 4 };
    const struct pct_demon_found *found = &map->found[i];
    const uint32_t cells = m->plan->cells;
    struct demon_object *o = &m->object[m->objects];
    const bool wanted = found->passed || count_idle(m, map, found->type) < MOST_IDLE;
    m->taken |= UINT64_C(1) << i;
    *o = (struct demon_object){ .place = found->place,
                                .type = found->type < m->pointers.types
                                            ? find_wanted_type(m, m->pointers.type[found->type])
                                            : NULL };
    if (o->type)
        name_found(m, found, o);
    if (wanted && o->type) {
        m->objects++;
        if (add_cells(m))
            return true;
        m->objects--;
        m->plan->cells = cells;
    }
    if (!m->left++)
        m->first_left = o->name;
    return false;
}

bool demon_model_extend(struct demon_model *m, const struct pct_demon_map *map)
{
    const int objects = m->objects;
    m->cut |= map->cut || map->unsure;
    memcpy(m->plan->map.found, map->found, sizeof map->found);
    m->plan->map.founds = map->founds;
    for (int passed = 1; passed >= 0; passed--) /* first those that count */
        for (uint32_t i = 0; i < map->founds; i++)
            if (!(m->taken >> i & 1) && (map->found[i].passed != 0) == passed)
                take_found(m, map, i);
    return m->objects > objects;
}

/* --- States ------------------------------------------------------------------------------------------------------- */

void demon_state_read(const struct demon_model *m, const struct pct_demon_point *point, struct demon_state *state)
{
    state->point = point;
    state->count = 0;
    for (uint32_t i = 0; i < m->plan->cells; i++) {
        const struct pct_demon_cell *cell = &m->plan->cell[i];
        const struct pct_demon_value *value = &point->cells[i];
        if (!value->known || cell->lock)
            continue;
        bool shared = cell->place.root != PCT_DEMON_CALL_ARGUMENT;
        int at = demon_state_find(state, value->address, cell->size);
        if (at >= 0)
            state->item[at].shared |= shared, state->item[at].own |= value->own;
        else
            state->item[state->count++] = (struct demon_scalar){ .address = value->address,
                                                                 .value = value->value,
                                                                 .size = cell->size,
                                                                 .shared = shared,
                                                                 .own = value->own };
    }
}

int demon_state_find(const struct demon_state *state, uint64_t address, uint32_t size)
{
    for (int i = 0; i < state->count; i++)
        if (state->item[i].address == address && state->item[i].size == size)
            return i;
    return -1;
}

static bool same_place(const struct pct_demon_place *a, const struct pct_demon_place *b)
{
    return !memcmp(a, b, sizeof *a);
}

uint64_t demon_state_object(const struct demon_model *m, const struct pct_demon_point *point,
                            const struct demon_object *object)
{
    for (uint32_t i = 0; i < m->plan->cells; i++)
        if (point->cells[i].address && same_place(&m->plan->cell[i].place, &object->place))
            return point->cells[i].address - m->plan->cell[i].offset;
    return 0;
}

bool demon_state_has_object(const struct demon_model *m, const struct pct_demon_point *point, uint64_t address)
{
    for (int i = 0; i < m->objects; i++)
        if (demon_state_object(m, point, &m->object[i]) == address)
            return true;
    return false;
}

/* The address of a shared variable that is no object, or a pointer to one, is where its cell is. */
static uint64_t shared_address(const struct demon_model *m, const struct demon_state *state, int shared)
{
    const struct demon_variable *v = &m->spec->shared[shared];
    for (int i = 0; i < m->objects && v->type.embedded; i++)
        if (m->object[i].type == &v->type)
            return demon_state_object(m, state->point, &m->object[i]);
    struct pct_demon_place place = place_of(v);
    for (uint32_t i = 0; i < m->plan->cells; i++)
        if (state->point->cells[i].address && same_place(&m->plan->cell[i].place, &place))
            return state->point->cells[i].address;
    return 0;
}

uint64_t demon_state_address(const struct demon_model *m, const struct demon_state *state,
                             const struct demon_binding *binding, const struct demon_leaf *leaf)
{
    uint64_t base = leaf->parameter >= 0 ? binding->argument[leaf->parameter] : shared_address(m, state, leaf->shared);
    for (uint32_t i = 0; base && i < leaf->steps; i++) {
        int at = demon_state_find(state, base + leaf->step[i], sizeof base);
        base = at >= 0 ? state->item[at].value : 0;
    }
    return base ? base + leaf->offset : 0;
}

bool demon_state_holds(const struct demon_model *m, const struct demon_state *state,
                       const struct demon_binding *binding, const struct demon_leaf *leaf, unsigned by, bool *held)
{
    uint64_t address = demon_state_address(m, state, binding, leaf);
    for (uint32_t i = 0; address && i < m->plan->cells; i++)
        if (m->plan->cell[i].lock == leaf->lock && state->point->cells[i].known &&
            state->point->cells[i].address == address) {
            *held = state->point->cells[i].value & by;
            return true;
        }
    return false;
}

void demon_state_bind(const struct demon_model *m, const struct pct_demon_point *point, struct demon_binding *binding)
{
    *binding = (struct demon_binding){ .proc = &m->spec->proc[point->function] };
    memcpy(binding->argument, point->arguments, sizeof binding->argument);
}

struct known {
    const struct demon_model *model;
    const struct demon_state *before, *state;
    const struct demon_binding *binding;
    unsigned by; /* whose locks */
};

static bool leaf_value(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    const struct known *k = context;
    const struct demon_state *state = old ? k->before : k->state;
    if (leaf->whole) {
        *value = k->binding->argument[leaf->parameter];
        return true;
    }
    int at = demon_state_find(state, demon_state_address(k->model, state, k->binding, leaf), leaf->size);
    *value = at >= 0 ? state->item[at].value : 0;
    return at >= 0;
}

static bool address_value(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    const struct known *k = context;
    *value = demon_state_address(k->model, old ? k->before : k->state, k->binding, leaf);
    return *value;
}

static bool holds_value(void *context, const struct demon_leaf *leaf, bool *held)
{
    const struct known *k = context;
    return demon_state_holds(k->model, k->state, k->binding, leaf, k->by, held);
}

const struct demon_clause *demon_state_broken(const struct demon_model *m, enum demon_clause_kind kind,
                                              const struct demon_state *before, const struct demon_state *state,
                                              const struct demon_binding *binding)
{
    const bool others = kind == DEMON_REQUIRE && state->point->caller;
    struct known known = { .model = m,
                           .before = before ? before : state,
                           .state = state,
                           .binding = binding,
                           .by = others ? PCT_DEMON_BY_CALLER : PCT_DEMON_BY_TEST };
    const struct demon_values values = {
        .leaf = leaf_value, .address = address_value, .holds = holds_value, .context = &known
    };
    for (int i = 0; i < binding->proc->clauses; i++) {
        const struct demon_clause *clause = &binding->proc->clause[i];
        if (clause->kind == kind && demon_evaluate(clause->expr, &values) == 0)
            return clause;
    }
    return NULL;
}

/* --- Ghosts ------------------------------------------------------------------------------------------------------- */

static void set_ghost(const struct demon_model *m, uint64_t address, uint64_t value, uint64_t ghosts[PCT_DEMON_CELLS])
{
    for (uint32_t i = 0; i < m->plan->cells; i++)
        if (m->plan->cell[i].place.root == PCT_DEMON_GHOST && m->plan->cell[i].place.address == address)
            ghosts[i] = value;
}

/* What this condition of an ensure gives to ghosts. */
static void give(const struct known *known, const struct demon_expr *e, uint64_t ghosts[PCT_DEMON_CELLS])
{
    const struct demon_values values = {
        .leaf = leaf_value, .address = address_value, .holds = holds_value, .context = (void *)(uintptr_t)known
    };
    uint64_t value;
    if (e->op == DEMON_AND) {
        give(known, e->a, ghosts);
        give(known, e->b, ghosts);
        return;
    }
    const struct demon_spec *spec = known->model->spec;
    bool given = e->op == DEMON_EQUAL && e->a->op == DEMON_LEAF && !e->a->old && e->a->leaf.shared >= 0 &&
                 spec->shared[e->a->leaf.shared].ghost;
    if (given && demon_evaluate_number(e->b, &values, &value))
        set_ghost(known->model, spec->shared[e->a->leaf.shared].address, value, ghosts);
}

void demon_state_fill_ghosts(const struct demon_model *m, struct pct_demon_plan *plan)
{
    static struct demon_state state; /* large */
    uint64_t ghosts[PCT_DEMON_CELLS] = { 0 };
    for (uint32_t i = 0; i < plan->points && i < plan->room; i++) {
        struct pct_demon_point *point = &plan->point[i];
        struct demon_binding binding;
        for (uint32_t k = 0; k < m->plan->cells; k++)
            if (m->plan->cell[k].place.root == PCT_DEMON_GHOST)
                point->cells[k] = (struct pct_demon_value){ .address = m->plan->cell[k].place.address,
                                                            .value = ghosts[k],
                                                            .known = 1 };
        if (point->caller && pct_demon_action_of(plan, point->caller) < 0)
            continue; /* behind the calls: none is entered */
        demon_state_read(m, point, &state);
        demon_state_bind(m, point, &binding);
        const struct known known = {
            .model = m, .before = &state, .state = &state, .binding = &binding, .by = PCT_DEMON_BY_TEST
        };
        for (int k = 0; k < binding.proc->clauses; k++)
            if (binding.proc->clause[k].kind == DEMON_ENSURE)
                give(&known, binding.proc->clause[k].expr, ghosts);
    }
}
