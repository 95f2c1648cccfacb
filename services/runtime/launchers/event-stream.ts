import { LineReader } from '../wire/line-reader.ts';

/** What an event stream hands on. */
export interface EventSink {
  /** Data of one event of the type `message`. */
  message(data: Buffer): void;
  /** An event larger than allowed; it was let go. */
  overlong(bytes: number): void;
}

const dataField = Buffer.from('data:');
const eventField = Buffer.from('event:');
const lineBreak = Buffer.from('\n');
const carriageReturn = 13;
const space = 32;

/** Reads server-sent events (WHATWG HTML, section 9.2.6) with line ends of LF or CRLF, as far as MCP uses them. */
export class EventStreamReader {
  readonly #sink: EventSink;
  readonly #eventMaxBytes: number;
  readonly #lines: LineReader;
  #data: Buffer[] = [];
  #bytes = 0;
  #type = '';
  #tooLarge = false;

  constructor(eventMaxBytes: number, sink: EventSink) {
    this.#sink = sink;
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
  }

  #addData(data: Buffer): void {
    this.#bytes += data.length;
    if (this.#bytes > this.#eventMaxBytes) {
      this.#tooLarge = true;
      this.#data = [];
    } else {
      if (this.#data.length > 0) this.#data.push(lineBreak);
      this.#data.push(data);
    }
  }

  #dispatch(): void {
    const [first, ...others] = this.#data;
    const { bytes, tooLarge, type } = { bytes: this.#bytes, tooLarge: this.#tooLarge, type: this.#type };
    this.#data = [];
    this.#bytes = 0;
    this.#tooLarge = false;
    this.#type = '';
    if (tooLarge) this.#sink.overlong(bytes);
    else if (first !== undefined && (type === '' || type === 'message')) {
      this.#sink.message(others.length === 0 ? first : Buffer.concat([first, ...others]));
    }
  }
}

function startsWith(line: Buffer, field: Buffer): boolean {
  return line.subarray(0, field.length).equals(field);
}

function fieldValue(line: Buffer, field: Buffer): Buffer {
  const value = line.subarray(field.length);
  return value[0] === space ? value.subarray(1) : value;
}
