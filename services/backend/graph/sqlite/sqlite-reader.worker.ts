import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from './connection.ts';
import { type Answer, type Answers, type Question, toFailure } from './reader-messages.ts';
import { runFollow, runRows } from './run-plan.ts';

/** The reader thread: runs plans one after the other on a separate connection. `ReaderThread` is its other end. */
const port = parentPort;
if (port === null) throw new Error('This file is a worker thread.');
const file = String(workerData);
const reader = new Connection({ file, readOnly: true });
// In KiB: enough for the indexes of 100,000 nodes, taken only as they are read.
reader.exec('pragma cache_size = -32768');

port.on('message', (question: Question) => {
  port.postMessage(answer(question));
  if (question.kind === 'close') port.close();
});

function answer(question: Question): Answer {
  try {
    return { result: result(question) };
  } catch (thrown) {
    return { failure: toFailure(thrown) };
  }
}

function result(question: Question): Answers[Question['kind']] {
  switch (question.kind) {
    case 'rows':
      return runRows(reader, question.plan);
    case 'follow':
      return runFollow(reader, question.plan);
    case 'close':
      reader.close();
      return null;
  }
}
