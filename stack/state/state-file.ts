import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { readJson, writeDurably } from './durable-file.ts';
import type { Installation } from './installation.ts';

/** A record of an installation, in state/ or beside the data. Reads null where the record is missing or damaged. */
export function stateFile<Shape extends z.ZodType>(
  name: string,
  shape: Shape,
  { writeText = writeDurably, folder = 'stateDir' }: { writeText?: WriteText; folder?: 'stateDir' | 'dataDir' } = {},
) {
  const file = (installation: Pick<Installation, 'stateDir' | 'dataDir'>) => join(installation[folder], name);
  return {
    file,
    read: (installation: Installation) => shape.safeParse(readJson(file(installation))).data ?? null,
    write(installation: Installation, record: z.infer<Shape>): void {
      writeText(file(installation), JSON.stringify(record, null, 2));
    },
    remove: (installation: Installation) => rmSync(file(installation), { force: true }),
  };
}

type WriteText = (path: string, text: string) => void;
