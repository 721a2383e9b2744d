/* The timeline of `pct trace --format=html`. What it shows stands in the page: #run (JSON: facts, names, threads,
 * places, sources) and #columns (base64 of gzip: for each step of the window, column by column, its object, the
 * distance to the step that it had to wait for, its place, thread, argument, operation, reason and link;
 * cli/trace/trace_export_html.c writes them). d3 does scales, the axis and zooming; the lanes are painted on a canvas,
 * because there may be a million steps. */
'use strict';
(async () => {
const $ = (id) => document.getElementById(id);
/* Of a script for several processes, each has its own two elements. */
const { processes, command } = JSON.parse($('run').textContent);
const ofHash = () => {
  const match = /^#process=(\d+)(&|$)/.exec(location.hash);
  return match && processes.includes(+match[1]) ? +match[1] : processes[0];
};
const chosen = ofHash();
const own = chosen === processes[0] ? '' : '-' + chosen;
const run = JSON.parse($('run' + own).textContent);
if (processes.length > 1) {
  for (const p of processes) $('process').append(new Option(p, p, false, p === chosen));
  $('process').addEventListener('change', () => { location.hash = `process=${$('process').value}`; });
  $('processes').hidden = false;
}
addEventListener('hashchange', () => { if (ofHash() !== chosen) location.reload(); });
const LANE = 26, LABEL = 74, BOX = 16;

/* --- The columns -------------------------------------------------------------------------------------------------- */
async function unpack(text) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) :
    Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}
if (typeof DecompressionStream === 'undefined') {
  $('verdict').textContent = 'This browser cannot unpack the trace: it needs DecompressionStream ' +
    '(Chromium 80, Firefox 113, Safari 16.4, or newer).';
  return;
}
const first = run.from, n = run.to - run.from + 1;
const bytes = await unpack($('columns' + own).textContent.trim());
$('columns' + own).remove();
let at = 0;
const column = (Type) => { const c = new Type(bytes, at, n); at += n * Type.BYTES_PER_ELEMENT; return c; };
const object = column(Uint32Array), distance = column(Uint32Array), place = column(Uint32Array);
const thread = column(Uint16Array), argument = column(Uint16Array);
const op = column(Uint8Array), reason = column(Uint8Array), link = column(Uint8Array);

/* --- What they mean ----------------------------------------------------------------------------------------------- */
const classOf = (i) => run.ops[op[i]].class;
const className = (i) => run.classes[classOf(i)];
const PREEMPTED = run.reasons.indexOf('preempted');
const left = (i) => i + 1 < n && thread[i + 1] !== thread[i];
const critical = (i) => left(i) && ($('all-switches').checked || reason[i] === PREEMPTED);
const number = (i) => first + i; /* the step's, from 1 */
function text(i) {
  const o = run.ops[op[i]], a = argument[i];
  const own = o.id === 'THREAD_START' || o.id === 'THREAD_FINISH' || o.id === 'THREAD_EXIT';
  const word = run.words[o.class];
  let t = o.name;
  if (o.class && !own) t += (t.includes(word) ? '' : ' ' + word) + ' ' + object[i];
  /* Of a time the argument has the high bits; what stands above these is something else. */
  const ms = (bits) => ((a % 2 ** bits * 2 ** 25 + object[i]) / 1000).toFixed(3) + ' ms';
  if (o.id === 'OUTSIDE') return `${t} (${ms(12)})`;
  if (o.id === 'DEADLINE') return `${t} (${ms(16)} early)`;
  if (o.id === 'CLOCK') return a % 2 ** 9 || object[i] ? `${t} (${ms(9)})` : t;
  if (o.id === 'CHOICE') return `${t} ${a}`;
  if (o.id === 'COND_SIGNAL' || o.id === 'FUTEX_WAKE') return t + (a === 65535 ? ' (nobody waits)' : a ? ' (waiter ' +
    (a + 1) + ')' : '');
  const note = [, 'timed out', 'busy', 'cancelled', 'runs it', 'error'][a];
  return note && o.id !== 'SIGNAL_HANDLE' && o.id !== 'SIGNAL_WAIT' ? t + ' (' + note + ')' : t;
}
/* What a step is about, for the filter: class and number of its object. */
const key = (i) => (classOf(i) ? classOf(i) * 2 ** 25 + object[i] : -1);

const nameOf = (k) => run.objects[`${Math.floor(k / 2 ** 25)}:${k % 2 ** 25}`];
const steps = new Map(), switches = [], objects = new Map();
for (let i = 0; i < n; i++) {
  steps.set(thread[i], (steps.get(thread[i]) || 0) + 1);
  const k = key(i);
  if (k >= 0) objects.set(k, (objects.get(k) || 0) + 1);
}
const threads = [...steps.keys()].sort((a, b) => a - b);
const ends = new Map(run.end.map((t) => [t.thread, t]));
let shown = threads.slice(), laneOf = new Map(), filter = -1, selected = -1, reached = -1;

/* Of a run of `pct script`: by the number of the step with which it begins, the line of the script that took steps. */
const scriptLines = [];
for (const [line, step] of run.script ? run.script.notes : []) {
  const before = scriptLines.length ? scriptLines[scriptLines.length - 1].to : 0;
  if (step > before) scriptLines.push({ line, from: before + 1, to: step });
}
const scriptLineOf = (i) => {
  const l = scriptLines[d3.bisector((s) => s.from).right(scriptLines, number(i)) - 1];
  return l && number(i) <= l.to ? l : undefined;
};
const scriptText = (l) => `${run.script.name}:${l.line}: ${run.script.lines[l.line] || ''}`;

/* --- Around the timeline ------------------------------------------------------------------------------------------ */
const el = (name, content, attributes = {}) => {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...[content].flat().filter((c) => c !== undefined && c !== null));
  return e;
};
const count = (x) => x.toLocaleString('en');
$('verdict').textContent = run.text;
$('verdict').classList.toggle('good', run.verdict === 'exit' && !run.exit_status);
document.title = 'pct: ' + run.verdict + ': ' + run.command;
$('facts').textContent = `strategy ${run.strategy}, seed ${run.seed}; ${count(run.steps)} steps` +
  (run.threads === undefined ? '' : `, ${count(run.threads)} threads, ` +
    `${count(run.switches)} switches, ${count(run.preemptions)} preemptions`);
/* The token of a run of `pct script` has no schedule; the trace has. */
const replayed = run.script ? 'TRACE' : `'${run.token}'`;
$('replay').append(el('code', `pct replay ${replayed} -- ${command}`), run.script ?
  ' (TRACE: the file that this page was made of)' : '');
if (n < run.steps) $('note').textContent = `This page shows the steps ${count(run.from)} to ${count(run.to)}; ` +
  `pct trace --from=STEP --to=STEP makes one of others.`;

const colours = { thread: '#7b61c4', mutex: '#0b7fb8', 'condition variable': '#d9822b', 'read-write lock': '#158f8f',
  barrier: '#b5528b',
  spinlock: '#4a6fd0', semaphore: '#3b8f3b', once: '#a08020', 'static guard': '#a08020', futex: '#c05640',
    descriptor: '#8b6b4f', '': '#808890' };
const fallback = ['#7f9a1e', '#c2437d', '#5a7d9a'];
const colour = run.classes.map((name, i) => colours[name] || fallback[i % fallback.length]);
const present = new Set();
for (let i = 0; i < n; i++) present.add(classOf(i));
for (const c of [...present].sort((a, b) => a - b)) $('legend').append(el('span', run.classes[c] || 'other', {
  style: '--colour:' + colour[c] }));
$('legend').append(el('span', 'preempted here', { style: '--colour:#c62828' }));

const MOST = 2000;
[...objects.entries()].sort((a, b) => b[1] - a[1]).slice(0, MOST).sort((a, b) => a[0] - b[0]).forEach(([k, times]) =>
  $('object').append(el('option', `${run.classes[Math.floor(k / 2 ** 25)]} ${k % 2 ** 25}${nameOf(k) ?
    ` "${nameOf(k)}"` : ''} (${count(times)} steps)`, { value: k })));
$('object').addEventListener('change', () => { filter = $('object').value === '' ? -1 : +$('object').value; paint();
  showSteps(); });
for (const t of threads) {
  const box = el('input', [], { type: 'checkbox', value: t });
  box.checked = true;
  box.addEventListener('change', () => {
    shown = threads.filter((x) => $('thread-list').querySelector(`input[value="${x}"]`).checked);
    layout();
    showSteps();
  });
  $('thread-list').append(el('label', [box, ` thread ${t} (${count(steps.get(t))} steps)`]));
}
const matches = (i) => filter < 0 || key(i) === filter;

/* --- The lanes ---------------------------------------------------------------------------------------------------- */
const canvas = $('timeline'), paper = canvas.getContext('2d'), lanes = $('lanes'),
  axis = d3.select('#axis').append('g').attr('transform', 'translate(0,22)');
let width = 0, height = 0, x0 = d3.scaleLinear().domain([0, n]), x = x0, waiting = false;
const zoom = d3.zoom().on('zoom', () => { x = d3.event.transform.rescaleX(x0); paint(); });
/* The wheel zooms; with Shift it scrolls through the lanes. */
zoom.filter(() => !d3.event.shiftKey && !d3.event.button);

function layout() {
  laneOf = new Map(shown.map((t, lane) => [t, lane]));
  const whole = Math.max(1, shown.length) * LANE;
  height = Math.min(whole, Math.max(LANE * 4, Math.floor(innerHeight * 0.45)));
  lanes.style.height = height + 2 + 'px';
  $('spacer').style.height = whole + 'px';
  const transform = d3.zoomTransform(canvas), before = width;
  width = lanes.clientWidth;
  canvas.style.height = height + 'px';
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  x0.range([LABEL, width - 4]);
  zoom.scaleExtent([1, Math.max(1, n / 8)]).translateExtent([[LABEL, 0], [width - 4, height]]).extent([[LABEL, 0],
    [width - 4, height]]);
  if (before && before !== width) d3.select(canvas).call(zoom.transform, d3.zoomIdentity);
  else x = transform.rescaleX(x0);
  paint();
}
function paint() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
function draw() {
  const from = Math.max(0, Math.floor(x.invert(LABEL))), to = Math.min(n, Math.ceil(x.invert(width)) + 1);
  const wide = x(1) - x(0), top = lanes.scrollTop, ink = css('--text'), soft = css('--soft'), bad = css('--bad');
  const y = (t) => { const lane = laneOf.get(t); return lane === undefined ? -1e6 : lane * LANE - top; };
  paper.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  paper.clearRect(0, 0, width, height);
  const lane0 = Math.floor(top / LANE), lane1 = Math.min(shown.length, Math.ceil((top + height) / LANE));
  paper.fillStyle = css('--band');
  for (let lane = lane0; lane < lane1; lane++) if (lane % 2) paper.fillRect(0, lane * LANE - top, width, LANE);
  /* Steps: where many fall on one pixel, one of each colour is enough. */
  const painted = new Int32Array(shown.length * run.classes.length).fill(-1);
  paper.font = '11px system-ui, sans-serif';
  paper.textBaseline = 'middle';
  for (let pass = filter < 0 ? 1 : 0; pass < 2; pass++) {
    paper.globalAlpha = pass ? 1 : 0.15; /* what does not match the filter lies faintly below */
    painted.fill(-1);
    for (let i = from; i < to; i++) {
      const lane = laneOf.get(thread[i]);
      if (lane === undefined || lane < lane0 || lane >= lane1 || matches(i) !== !!pass) continue;
      const c = classOf(i), px = x(i);
      if (wide < 1) {
        const slot = lane * run.classes.length + c, pixel = px | 0;
        if (painted[slot] === pixel) continue;
        painted[slot] = pixel;
      }
      paper.fillStyle = colour[c];
      paper.fillRect(px, lane * LANE - top + (LANE - BOX) / 2, Math.max(1, wide - (wide > 4 ? 1 : 0)), BOX);
      if (wide > 46) {
        paper.fillStyle = '#fff';
        const room = Math.floor((wide - 8) / 6), t = text(i);
        paper.fillText(t.length > room ? t.slice(0, room - 1) + '…' : t, px + 4, lane * LANE - top + LANE / 2);
      }
    }
  }
  paper.globalAlpha = 1;
  /* Preemptions. */
  paper.fillStyle = '#c62828';
  let last = -9;
  for (let i = from; i < to; i++) {
    if (!left(i) || reason[i] !== PREEMPTED || !laneOf.has(thread[i])) continue;
    const px = x(i + 1);
    if (px - last < 2 && wide < 1) continue;
    last = px;
    const py = y(thread[i]);
    paper.beginPath();
    paper.moveTo(px - 4, py + 1); paper.lineTo(px + 4, py + 1); paper.lineTo(px, py + 7);
    paper.fill();
  }
  /* Arrows: of what is selected, and of all when there are few. */
  if (to - from <= 400) for (let i = from; i < to; i++) if (link[i] && matches(i)) arrow(i, soft, y);
  if (selected >= 0) {
    for (let i = selected; i < n && i < selected + 5000; i++) if (i === selected ? link[i] : link[i] &&
      i - distance[i] === selected) arrow(i, ink, y);
    const lane = laneOf.get(thread[selected]);
    if (lane !== undefined) {
      paper.strokeStyle = ink;
      paper.lineWidth = 2;
      paper.strokeRect(x(selected) - 1, y(thread[selected]) + 3, Math.max(3, wide + 1), LANE - 6);
    }
  }
  /* Labels, over what is scrolled out to the left. */
  paper.fillStyle = css('--page');
  paper.fillRect(0, 0, LABEL - 2, height);
  for (let lane = lane0; lane < lane1; lane++) {
    const end = ends.get(shown[lane]);
    paper.fillStyle = end && end.state === 'blocked' ? bad : ink;
    paper.fillText('thread ' + shown[lane], 6, lane * LANE - top + LANE / 2);
  }
  const ticks = x.copy().domain(x.domain().map((v) => v + first)).range([LABEL, width - 4]);
  axis.call(d3.axisTop(ticks).tickValues(ticks.ticks(Math.max(2,
    width / 110)).filter(Number.isInteger)).tickFormat(count)).attr('font-size', 11);
  canvas.dataset.visible = `${first + from}-${first + to - 1}`;
}
function arrow(i, stroke, y) {
  const f = i - distance[i];
  if (f < 0 || !laneOf.has(thread[i]) || !laneOf.has(thread[f])) return;
  const half = (x(1) - x(0)) / 2, x1 = x(f) + half, y1 = y(thread[f]) + LANE / 2, x2 = x(i) + Math.min(2, half),
    y2 = y(thread[i]) + LANE / 2;
  const down = Math.sign(y2 - y1) * BOX / 2, angle = Math.atan2(y2 - down - y1 - down, x2 - x1);
  paper.strokeStyle = paper.fillStyle = stroke;
  paper.lineWidth = 1.2;
  paper.beginPath();
  paper.moveTo(x1, y1 + down); paper.lineTo(x2, y2 - down);
  paper.stroke();
  paper.beginPath();
  paper.moveTo(x2, y2 - down);
  for (const side of [-0.4, 0.4]) paper.lineTo(x2 - 7 * Math.cos(angle + side), y2 - down - 7 * Math.sin(angle + side));
  paper.fill();
}

/* --- The selected step -------------------------------------------------------------------------------------------- */
function reveal(i) {
  const [a, b] = x.domain(), lane = laneOf.get(thread[i]);
  if (i < a || i >= b) d3.select(canvas).call(zoom.translateTo, x0(i), 0);
  if (lane !== undefined && (lane * LANE < lanes.scrollTop || (lane + 1) * LANE > lanes.scrollTop +
    height)) lanes.scrollTop = lane * LANE - height / 2;
}
function closeUp(i) { /* so that the boxes can be read */
  const scale = Math.min(Math.max(1, n / 8), Math.max(d3.zoomTransform(canvas).k, n / 40));
  d3.select(canvas).call(zoom.scaleTo, scale).call(zoom.translateTo, x0(i), 0);
}
/* Without the process, that is the first one's. */
const hashOf = (i) => (own ? `#process=${chosen}&` : '#') + `step=${number(i)}`;
const jump = (i, label) => el('a', label || `step ${number(i)}`, { href: hashOf(i) });
const where = (p) => run.places[p] || {};
function sourceOf(file, line) {
  const lines = run.sources[file];
  const head = lines && lines.path ? el('a', `${file}:${line}`, { href: 'file://' + encodeURI(lines.path),
    title: lines.path }) : el('span', `${file}:${line}`);
  if (!lines) return [head];
  const pre = el('pre', []);
  for (let l = line - 4; l <= line + 4; l++) {
    if (lines.lines[l] === undefined) continue;
    const row = `${String(l).padStart(5)}  ${lines.lines[l]}`;
    pre.append(l === line ? el('span', row, { class: 'here' }) : row + '\n');
  }
  return [head, pre];
}
function neighbour(i, by, limit) {
  for (let j = i + by; j >= 0 && j < n; j += by) if (limit(j)) return j;
  return -1;
}
function describe(i) {
  const list = el('dl', []);
  const add = (name, ...value) => list.append(el('dt', name), el('dd', value));
  add('thread', String(thread[i]));
  add('operation', text(i));
  if (link[i]) add('had to wait for', jump(i - distance[i], `${i < distance[i] ? 'a step before this page' :
    `thread ${thread[i - distance[i]]}, step ${number(i - distance[i])}: ${text(i - distance[i])}`}`),
      ` (${run.links[link[i]]})`);
  if (left(i)) add('then', `switch to thread ${thread[i + 1]}` + (reason[i] ? `: ${run.reasons[reason[i]]}` : ''));
  const told = scriptLineOf(i);
  if (told) add('script', el('code', scriptText(told)), ` (steps ${told.from} to ${told.to})`);
  const parts = [list];
  if (key(i) >= 0) {
    const same = (j) => key(j) === key(i), before = neighbour(i, -1, same), after = neighbour(i, 1, same);
    if (nameOf(key(i))) add('object', el('code', nameOf(key(i))));
    add('same object', before < 0 ? 'no step before' :
      jump(before, `step ${number(before)} (thread ${thread[before]})`), ' · ', after < 0 ? 'no step behind' :
        jump(after, `step ${number(after)} (thread ${thread[after]})`));
  }
  const mine = (j) => thread[j] === thread[i], before = neighbour(i, -1, mine), after = neighbour(i, 1, mine);
  add('same thread', before < 0 ? 'its first step here' : jump(before), ' · ', after < 0 ? 'its last step here' :
    jump(after));
  if (place[i]) {
    const p = where(place[i] - 1);
    if (p.function) add('in', el('code', p.function));
    parts.push(...(p.file ? sourceOf(p.file, p.line) : [el('code', p.module ? `${p.module}+0x${p.offset.toString(16)}` :
      '')]));
  }
  if (!run.places.length) parts.push(el('p', ['For source lines, record the run with ',
    el('code', `pct replay --sites -t FILE ${replayed} -- ${command}`)]));
  return parts;
}
function select(i, scroll = true) {
  if (i < 0 || i >= n) return;
  selected = i;
  $('step-title').textContent = `Step ${number(i)}: thread ${thread[i]}: ${text(i)}`;
  $('details').replaceChildren(...describe(i));
  $('go').value = number(i);
  history.replaceState(null, '', hashOf(i));
  if (scroll) reveal(i);
  showSteps();
  paint();
}
/* A column per thread, as `pct report --events` prints it. */
function showSteps() {
  const center = Math.max(0, selected), from = Math.max(0, center - 14), to = Math.min(n, from + 30);
  const inside = [...new Set(Array.from(thread.subarray(from, to)))].filter((t) => laneOf.has(t)).sort((a, b) => a - b);
  const table = el('table', el('tr', [el('th', 'step'), ...inside.map((t) => el('th', 'thread ' + t)),
    ...(run.script ? [el('th', 'script')] : [])]));
  for (let i = from; i < to; i++) {
    if (!laneOf.has(thread[i])) continue;
    const cell = (content, kind) => inside.map((t) => el('td', t === thread[i] ? content : '', t === thread[i] && kind ?
      { class: kind } : {}));
    const row = el('tr', [el('td', String(number(i)), { class: 'number' }), ...cell(text(i))], {
      class: 'step' + (i === selected ? ' selected' : '') });
    const told = scriptLineOf(i);
    if (told) row.append(el('td', i === from || number(i) === told.from ? scriptText(told) : '|', { class: 'script' }));
    if (!matches(i)) row.style.opacity = 0.4;
    row.addEventListener('click', () => select(i));
    table.append(row);
    if (left(i)) table.append(el('tr', [el('td', ''), ...cell('switch' + (reason[i] ? ` (${run.reasons[reason[i]]})` :
      ''), reason[i] === PREEMPTED ? 'switch preempted' : 'switch')]));
  }
  $('steps').replaceChildren(table);
}
function collectSwitches() {
  switches.length = 0;
  for (let i = 0; i < n; i++) if (critical(i)) switches.push(i);
  reached = -1;
  showReached();
}
function showReached() {
  const kind = $('all-switches').checked ? 'switches' : 'preemptions';
  $('switch-place').textContent = switches.length ? `${reached < 0 ? '' : count(reached + 1) +
    ' of '}${count(switches.length)} ${kind}` : `no ${kind}`;
  $('previous-switch').disabled = $('next-switch').disabled = !switches.length;
}
function stepSwitch(by) {
  if (!switches.length) return;
  const here = d3.bisectLeft(switches, selected);
  reached = Math.min(switches.length - 1, Math.max(0, by > 0 ? (switches[here] === selected ? here + 1 : here) :
    here - 1));
  select(switches[reached]);
  if (x(1) - x(0) < 12) closeUp(selected);
  showReached();
}
function showEnd() {
  if (!run.end.length) {
    $('end').append(run.verdict === 'running' ? 'The target was killed: what its threads did then is not known.' :
      'The state of threads is recorded only of runs that fail.');
    return;
  }
  for (const t of run.end) {
    const what = t.state === 'blocked' ? `waits: ${t.next_text}` + (t.waits_for_thread === undefined ||
      t.next_op === 'join' ? '' : `, held by thread ${t.waits_for_thread}`) : t.state;
    const frames = el('ol', t.stack.map((f) =>
      el('li', [el('code', f.function || `${f.module || '?'}+0x${(f.offset || 0).toString(16)}`), f.file ?
        ` ${f.file}:${f.line}` : ''])));
    const top = t.stack.find((f) => f.file);
    const more = el('details', [el('summary', `thread ${t.thread}${t.name ? ` "${t.name}"` : ''}: ${what}`), frames,
      ...(top ? sourceOf(top.file, top.line) : [])]);
    more.open = t.state === 'blocked' || t.state === 'running';
    $('end').append(more);
  }
}

/* --- Input -------------------------------------------------------------------------------------------------------- */
d3.select(canvas).call(zoom).on('dblclick.zoom', null);
canvas.addEventListener('click', (e) => {
  const box = canvas.getBoundingClientRect(), lane = Math.floor((e.clientY - box.top + lanes.scrollTop) / LANE),
    t = shown[lane];
  const middle = Math.floor(x.invert(e.clientX - box.left)), reach = Math.ceil(6 / (x(1) - x(0)));
  for (let d = 0; d <= reach; d++) for (const i of [middle - d, middle + d]) if (i >= 0 && i < n && thread[i] === t &&
    matches(i)) { select(i, false); return; }
  select(Math.min(n - 1, Math.max(0, middle)), false);
});
const scaleBy = (k) => d3.select(canvas).call(zoom.scaleBy, k, selected >= 0 ? [x(selected), 0] : undefined);
const actions = {
  n: ['next-switch', () => stepSwitch(1)], p: ['previous-switch', () => stepSwitch(-1)],
  ArrowRight: ['next-step', () => select(selected + 1)], ArrowLeft: ['previous-step', () => select(selected - 1)],
  '+': ['zoom-in', () => scaleBy(2)], '-': ['zoom-out', () => scaleBy(0.5)],
  0: ['zoom-all', () => d3.select(canvas).call(zoom.transform, d3.zoomIdentity)],
};
for (const [id, act] of Object.values(actions)) $(id).addEventListener('click', act);
addEventListener('keydown', (e) => {
  if (e.target.matches('input, select') || e.ctrlKey || e.metaKey || e.altKey || !actions[e.key]) return;
  e.preventDefault();
  actions[e.key][1]();
});
$('all-switches').addEventListener('change', collectSwitches);
$('go').addEventListener('change', () => select(Math.min(n - 1, Math.max(0, +$('go').value - first))));
lanes.addEventListener('scroll', paint);
addEventListener('resize', layout);
addEventListener('hashchange', fromHash);
function fromHash() {
  const match = /^#(?:process=\d+&)?step=(\d+)$/.exec(location.hash);
  if (match && +match[1] - first !== selected) select(+match[1] - first);
  return !!match;
}
collectSwitches();
showEnd();
layout();
if (!fromHash() && n) select(switches.length ? switches[switches.length - 1] : n - 1, false);
document.body.dataset.ready = String(n);
})();
