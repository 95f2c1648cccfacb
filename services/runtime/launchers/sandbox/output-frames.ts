import { Readable } from 'node:stream';

const headerBytes = 8;

/**
 * Splits the output of a container (Docker Engine API, "Attach to a container", stream format) by the header of each
 * frame. A slow reader holds the container back, and nothing is buffered here.
 */
export function splitOutput(source: Readable): { readonly stdout: Readable; readonly stderr: Readable } {
  const full = new Set<Readable>();
  const open = () =>
    new Readable({
      read() {
        full.delete(this);
        if (full.size === 0) source.resume();
      },
    });
  const outputs = [open(), open()] as const;
  const [stdout, stderr] = outputs;
  let header = Buffer.alloc(0);
  let target: Readable = stdout;
  let left = 0;

  const beginFrame = (chunk: Buffer): Buffer => {
    const missing = headerBytes - header.length;
    header = Buffer.concat([header, chunk.subarray(0, missing)]);
    if (header.length === headerBytes) {
      target = header[0] === 2 ? stderr : stdout;
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
    return chunk.subarray(missing);
  };
  const pass = (chunk: Buffer): Buffer => {
    const part = chunk.subarray(0, left);
    left -= part.length;
    if (!target.destroyed && !target.push(part)) full.add(target);
    return chunk.subarray(part.length);
  };

  source.on('data', (chunk: Buffer) => {
    for (let rest = chunk; rest.length > 0; ) rest = left === 0 ? beginFrame(rest) : pass(rest);
    if (full.size > 0) source.pause();
  });
  source.once('close', () => {
    for (const output of outputs) if (!output.destroyed) output.push(null);
  });
  return { stdout, stderr };
}
