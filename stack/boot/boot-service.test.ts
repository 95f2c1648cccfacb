import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { refuseWrittenByRoot, requireRoot } from './boot-service.ts';

const dir = folderOfEachTest();
const unit = 'svc-abc.service';

describe.skipIf(process.platform !== 'linux')('a service of the machine', () => {
  const service = { unit, file: `/etc/systemd/system/${unit}`, isSystem: true };

  test('is refused to users, with the commands by which root writes what they print', () => {
    expect(() => requireRoot(service, false)).toThrow(
      expect.objectContaining({
        code: 'forbidden',
        hint: expect.stringContaining(
          `svc service install --system --print | sudo tee /etc/systemd/system/${unit} && sudo systemctl enable --now ${unit}`,
        ),
      }),
    );
    expect(() => requireRoot(service, true)).not.toThrow();
    expect(() => requireRoot({ ...service, isSystem: false }, false)).not.toThrow();
  });

  test('that root wrote is not removed silently without it', () => {
    const file = join(dir(), unit);
    expect(() => refuseWrittenByRoot(unit, file)).not.toThrow();
    writeFileSync(file, '');
    expect(() => refuseWrittenByRoot(unit, file)).toThrow(
      expect.objectContaining({
        code: 'forbidden',
        hint: expect.stringContaining(`sudo systemctl disable --now ${unit} && sudo rm ${file}`),
      }),
    );
  });
});
