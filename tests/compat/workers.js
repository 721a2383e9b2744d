// Node's worker threads: messages, a shared array with Atomics.wait and notify, the thread pool behind crypto and fs.
// What it prints does not depend on the order in which its threads run.
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto');
const fs = require('fs');

const WORKERS = 4, ROUNDS = 25;

if (!isMainThread) {
    const shared = new Int32Array(workerData.shared);
    // Each takes its turn: number 0 counts the turns.
    for (let round = 0; round < ROUNDS; round++) {
        const turn = round * WORKERS + workerData.number;
        for (let now = Atomics.load(shared, 0); now !== turn; now = Atomics.load(shared, 0))
            Atomics.wait(shared, 0, now);
        Atomics.add(shared, 1, turn);
        Atomics.store(shared, 0, turn + 1);
        Atomics.notify(shared, 0);
    }
    parentPort.on('message', (n) => {
        if (n === null)
            parentPort.close();
        else
            parentPort.postMessage([n, crypto.createHash('sha256').update(String(n)).digest('hex').slice(0, 8)]);
    });
} else {
    const shared = new SharedArrayBuffer(8);
    const results = [];
    const ends = [];
    for (let number = 0; number < WORKERS; number++) {
        const worker = new Worker(__filename, { workerData: { shared, number } });
        let count = 0;
        worker.on('message', (result) => {
            results.push(result);
            if (++count === 10)
                worker.postMessage(null);
        });
        for (let n = number; n < 10 * WORKERS; n += WORKERS)
            worker.postMessage(n);
        ends.push(new Promise((resolve) => worker.on('exit', resolve)));
    }
    const pool = [];
    for (let n = 0; n < 8; n++) {
        pool.push(new Promise((resolve, reject) => crypto.pbkdf2('secret', `salt ${n}`, 200, 8, 'sha256',
            (error, key) => error ? reject(error) : resolve(key.toString('hex')))));
        pool.push(fs.promises.readFile(__filename).then((text) => text.length > 0));
    }
    Promise.all([...ends, ...pool]).then((all) => {
        results.sort(([a], [b]) => a - b);
        console.log('turns', new Int32Array(shared).join(' '));
        console.log('messages', JSON.stringify(results));
        console.log('rest', JSON.stringify(all));
    });
}
