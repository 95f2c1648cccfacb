import { LineReader } from '../wire/line-reader.ts';

/** Receiver of an event stream's messages. */
export interface EventSink {
  /** Data of one event of the type `message`. */
  message(data: Buffer): void;
  /** An event beyond the size limit was dropped. */
  overlong(bytes: number): void;
  /** Data of an event of the type `endpoint` (MCP 2024-11-05). */
  endpoint?(data: Buffer): void;
}

/** How far a stream was read and when it may be resumed; it outlives the stream's connection. */
export interface StreamPosition {
  /** As bytes in Latin-1, as in a header; null when the stream cannot be resumed. */
  lastEventId: string | null;
  retryMs: number | null;
}

export function beginning(): StreamPosition {
  return { lastEventId: null, retryMs: null };
}

const dataField = Buffer.from('data:');
const eventField = Buffer.from('event:');
const idField = Buffer.from('id:');
const retryField = Buffer.from('retry:');
const lineBreak = Buffer.from('\n');
const carriageReturn = 13;
const space = 32;
/** It is sent as a header, and HTTP servers refuse headers beyond some 16 KB in all. */
const idMaxBytes = 4096;
/** Lines that are held singly; more are joined, so that an event of empty lines does not become many tiny buffers. */
const singleLinesMax = 1024;
/** No call lives longer, and Node's timers fire at once for a delay of weeks. */
const retryMaxMs = 30 * 60 * 1000;

/** Reads server-sent events (WHATWG HTML, section 9.2.6) with line ends of LF or CRLF, as far as MCP uses them. */
export class EventStreamReader {
  readonly #sink: EventSink;
  readonly #position: StreamPosition;
  readonly #eventMaxBytes: number;
  readonly #lines: LineReader;
  #data: Buffer[] = [];
  #lastLines: Buffer[] = [];
  #bytes = 0;
  /** Bytes of the lines so far, line breaks included. */
  #heldBytes = 0;
  #type = '';
  #tooLarge = false;
  /** The id of the event being read, valid once the event is complete; undefined without one. */
  #id: string | null | undefined;

  constructor(eventMaxBytes: number, sink: EventSink, position: StreamPosition) {
    this.#sink = sink;
    this.#position = position;
    this.#eventMaxBytes = eventMaxBytes;
    this.#lines = new LineReader(eventMaxBytes, {
      line: (line) => this.#take(line.at(-1) === carriageReturn ? line.subarray(0, -1) : line),
      overlong: ({ bytes }) => {
        this.#bytes += bytes;
        this.#tooLarge = true;
      },
    });
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  #take(line: Buffer): void {
    if (line.length === 0) this.#dispatch();
    else if (startsWith(line, dataField)) this.#addData(fieldValue(line, dataField));
    else if (startsWith(line, eventField)) this.#type = fieldValue(line, eventField).toString('utf8');
    else if (startsWith(line, idField)) this.#takeId(fieldValue(line, idField));
    else if (startsWith(line, retryField)) this.#takeRetry(fieldValue(line, retryField).toString('latin1'));
  }

  #addData(data: Buffer): void {
    this.#bytes += data.length;
    const isFirst = this.#heldBytes === 0 && this.#lastLines.length === 0;
    this.#heldBytes += data.length + (isFirst ? 0 : lineBreak.length);
    if (this.#heldBytes > this.#eventMaxBytes) {
      this.#tooLarge = true;
      this.#data = [];
      this.#lastLines = [];
      return;
    }
    if (!isFirst) this.#lastLines.push(lineBreak);
    this.#lastLines.push(withoutRest(data));
    if (this.#lastLines.length < singleLinesMax) return;
    this.#data.push(Buffer.concat(this.#lastLines));
    this.#lastLines = [];
  }

  #takeId(id: Buffer): void {
    if (id.includes(0)) return;
    const text = id.length > idMaxBytes ? '' : id.toString('latin1');
    this.#id = mayBeHeader.test(text) ? text : null;
  }

  #takeRetry(digits: string): void {
    if (/^\d+$/.test(digits)) this.#position.retryMs = Math.min(Number(digits), retryMaxMs);
  }

  #dispatch(): void {
    const [first, ...others] = [...this.#data, ...this.#lastLines];
    const { bytes, tooLarge, type } = { bytes: this.#bytes, tooLarge: this.#tooLarge, type: this.#type };
    if (this.#id !== undefined) this.#position.lastEventId = this.#id;
    this.#id = undefined;
    this.#data = [];
    this.#lastLines = [];
    this.#bytes = 0;
    this.#heldBytes = 0;
    this.#tooLarge = false;
    this.#type = '';
    if (tooLarge) this.#sink.overlong(bytes);
    else if (first !== undefined && type === 'endpoint') this.#sink.endpoint?.(Buffer.concat([first, ...others]));
    // An event without data only sets the id to resume with.
    else if (first !== undefined && bytes > 0 && (type === '' || type === 'message')) {
      this.#sink.message(others.length === 0 ? first : Buffer.concat([first, ...others]));
    }
  }
}

/** A view of a short line would keep its whole chunk; a copy keeps only the line. */
function withoutRest(data: Buffer): Buffer {
  return 2 * data.length < data.buffer.byteLength ? Buffer.from(data) : data;
}

/** Not empty, and without characters that HTTP refuses in a header. */
const mayBeHeader = /^[\t\x20-\x7e\x80-\xff]+$/;

function startsWith(line: Buffer, field: Buffer): boolean {
  return line.subarray(0, field.length).equals(field);
}

function fieldValue(line: Buffer, field: Buffer): Buffer {
  const value = line.subarray(field.length);
  return value[0] === space ? value.subarray(1) : value;
}
