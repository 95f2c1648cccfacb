const leastBytes = 64 * 1024;

/**
 * The bytes of one protobuf message, written from its end to its beginning: how long a part is stands before it, and is known by then.
 * Fields are to be written in falling order, and a list from its last item on.
 */
export class MessageBytes {
  #bytes = Buffer.allocUnsafe(leastBytes);
  #start = leastBytes;

  get bytes(): Buffer {
    return this.#bytes.subarray(this.#start);
  }

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#makeRoom(length);
    this.#start -= length;
    this.#bytes.write(value, this.#start);
    this.#delimited(field, length);
  }

  integer(field: number, value: number): void {
    if (value < 0) this.#negative(value);
    else this.#varint(value);
    this.#varint(field * 8);
  }

  boolean(field: number, value: boolean): void {
    this.integer(field, value ? 1 : 0);
  }

  /** Whatever `write` writes is inside of it. */
  message(field: number, write: () => void): void {
    const behind = this.#bytes.length - this.#start;
    write();
    this.#delimited(field, this.#bytes.length - this.#start - behind);
  }

  #delimited(field: number, length: number): void {
    this.#varint(length);
    this.#varint(field * 8 + 2);
  }

  /** Seven bits in a byte, the lowest first; all but the last have the eighth. */
  #varint(value: number): void {
    this.#makeRoom(varintBytesMax);
    let length = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length += 1;
    this.#start -= length;
    let at = this.#start;
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[at++] = (rest % 128) + 128;
    this.#bytes[at] = rest;
  }

  /** As 64 bits. */
  #negative(value: number): void {
    this.#makeRoom(varintBytesMax);
    this.#start -= varintBytesMax;
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let at = this.#start; at < this.#start + varintBytesMax; at++) {
      this.#bytes[at] = Number(rest % 128n) + (rest >= 128n ? 128 : 0);
      rest /= 128n;
    }
  }

  #makeRoom(length: number): void {
    if (this.#start >= length) return;
    const written = this.bytes;
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + length);
    this.#start = larger.length - written.length;
    written.copy(larger, this.#start);
    this.#bytes = larger;
  }
}

const varintBytesMax = 10;
