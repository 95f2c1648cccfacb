import { describe, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Catalogue } from './catalogue.ts';
import { CatalogueWaits } from './catalogue-waits.ts';

const workspace = newId('workspace');

function version(number: number, of: WorkspaceId = workspace): Catalogue {
  const nothing = { mcpServers: [], skills: [], roles: [] };
  const byName = { toolsByName: new Map(), skillsById: new Map(), rolesById: new Map() };
  return { workspace: of, name: 'acme', suspended: false, version: number, statusVersion: 1, ...nothing, ...byName };
}

const isThird = (catalogue: Catalogue) => catalogue.version >= 3;
const never = new AbortController().signal;
const waitFor = { present: version(1), isSo: isThird, timeoutMs: 60_000, signal: never };

describe('a wait for a catalogue', () => {
  test('ends with the first catalogue that meets the condition, and ignores other workspaces', async () => {
    const waits = new CatalogueWaits();
    const waiting = Promise.all([waits.until(waitFor), waits.until(waitFor)]);
    waits.changed(version(9, newId('workspace')));
    waits.changed(version(2));
    const third = version(3);
    waits.changed(third);
    waits.changed(version(4));
    expect(await waiting).toEqual([third, third]);
  });

  test('that is already fulfilled takes no time', async () => {
    expect(await new CatalogueWaits().until({ ...waitFor, present: version(3), timeoutMs: 0 })).toEqual(version(3));
  });

  test('ends at its deadline with the present state', async () => {
    const waits = new CatalogueWaits();
    const waiting = waits.until({ ...waitFor, timeoutMs: 1 });
    waits.changed(version(2));
    expect(await waiting).toEqual(version(2));
  });

  test('is cancelled, before or while it waits', async () => {
    const waits = new CatalogueWaits();
    const cancel = new AbortController();
    const waiting = waits.until({ ...waitFor, signal: cancel.signal });
    cancel.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    await expect(waits.until({ ...waitFor, signal: cancel.signal })).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('ends with the service', async () => {
    const waits = new CatalogueWaits();
    const waiting = waits.until(waitFor);
    waits.stop();
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await expect(waits.until(waitFor)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
