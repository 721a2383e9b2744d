// A journal: lines that are appended to a file, in the order in which they come.
//
// Bug: an append is not waited for before the next one begins; threads of libuv's pool make both, in any order.
// With --fixed, each waits for the one before.
'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');

const fixed = process.argv.includes('--fixed');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'journal-'));
const file = path.join(folder, 'lines');

let last = Promise.resolve();
function append(line) {
    const write = () => fs.promises.appendFile(file, line + '\n');
    last = fixed ? last.then(write) : Promise.all([last, write()]);
    return last;
}

async function main() {
    for (const line of ['begin', 'work', 'end'])
        append(line);
    await last;
    const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
    fs.rmSync(folder, { recursive: true });
    assert.deepStrictEqual(lines, ['begin', 'work', 'end']);
}

main();
