/** Reads server-sent events that arrive in parts (HTML standard, "Event stream interpretation"). */
export class EventReader {
  /** The parts of the event that is not complete yet. Joined only once, because a result may have many. */
  #parts: string[] = [];
  /** Its last characters, in which the end may have begun. */
  #tail = '';

  /** The data of the events that this part completes. Comments and other fields are passed over. */
  read(part: string): readonly string[] {
    this.#parts.push(part);
    const hasEnd = end.test(this.#tail + part);
    this.#tail = (this.#tail + part).slice(-tailLength);
    if (!hasEnd) return [];
    const blocks = this.#parts.join('').split(end);
    this.#parts = [blocks.pop() ?? ''];
    this.#tail = this.#parts[0]?.slice(-tailLength) ?? '';
    return blocks.flatMap(dataOf);
  }
}

const end = /\r?\n\r?\n/;
const tailLength = 3;

function dataOf(block: string): readonly string[] {
  const lines = block.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')];
}
