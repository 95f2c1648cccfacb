import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { SignedInBrowser } from './signed-in-browser.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A form with a wrong value: where it is, what is wrong, and what the button then says at which control. */
interface WrongForm {
  readonly at: string;
  readonly fill?: (form: Locator) => Promise<unknown>;
  readonly button: string;
  readonly reason: string | RegExp;
  /** The control with the focus and the reason; absent: the reason has the focus. */
  readonly field?: string;
}

const empty = 'This field must not be empty.';
const wrongForms: readonly WrongForm[] = [
  { at: '/roles?add=true', button: 'Create role', field: 'Name', reason: empty },
  {
    at: '/roles?add=true',
    fill: (form) => form.getByLabel('Name').fill('no/name'),
    ...{ button: 'Create role', field: 'Name', reason: /^"no\/name" is not a valid name for a role/ },
  },
  {
    at: '/skills?add=true',
    fill: (form) =>
      form
        .getByLabel('Name')
        .fill('read')
        .then(() => form.getByLabel('Description').fill('x'.repeat(1025))),
    ...{
      button: 'Create skill',
      field: 'Description',
      reason: 'The description is too long: at most 1024 characters.',
    },
  },
  { at: '/profile/api-keys?add=true', button: 'Create key', field: 'Name', reason: empty },
  {
    at: '/profile/api-keys?add=true',
    fill: (form) =>
      form
        .getByLabel('Name')
        .fill('laptop')
        .then(() => form.getByLabel('Only some roles').check()),
    ...{ button: 'Create key', reason: 'Choose at least one role.' },
  },
  {
    at: '/profile/api-keys?add=true',
    fill: (form) =>
      form
        .getByLabel('Name')
        .fill('laptop')
        .then(() => form.getByLabel('Expires').selectOption('day')),
    ...{ button: 'Create key', field: 'Last day', reason: empty },
  },
  { at: '/settings/general?add=true', button: 'Create workspace', field: 'Name', reason: empty },
  {
    at: '/settings/general',
    fill: (form) => form.getByLabel('Name').fill('no/name'),
    ...{ button: 'Rename', field: 'Name', reason: /^"no\/name" is not a valid name for a workspace/ },
  },
  { at: '/settings/members?add=true', button: 'Send invitation', field: 'E-mail addresses', reason: empty },
  {
    at: '/settings/members?add=true',
    fill: (form) => form.getByLabel('E-mail addresses').fill(', ;'),
    ...{ button: 'Send invitation', field: 'E-mail addresses', reason: 'Type at least one e-mail address.' },
  },
  { at: '/settings/mcp-servers?add=true', button: 'Add MCP server', field: 'Command, address or JSON', reason: empty },
  { at: '/profile/account', button: 'Set password', field: 'New password', reason: empty },
];

describe.skipIf(!hasChromium)('the focus', () => {
  let browser: SignedInBrowser;
  let page: Page;
  let places: string;

  beforeAll(async () => {
    browser = await SignedInBrowser.open(await Platform.start());
    page = browser.page;
    places = await browser.places();
  }, startTimeoutMs);

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  const focused = () => page.locator(':focus');

  test('a form with a wrong value says why at the field, and gives it the focus', async () => {
    for (const { at, fill, button, reason, field } of wrongForms) {
      await page.goto(places + at);
      const form = page.locator('form').filter({ has: page.getByRole('button', { name: button, exact: true }) });
      await form.waitFor();
      await fill?.(form);
      await form.getByRole('button', { name: button, exact: true }).click();
      const said = form.getByText(reason);
      await said.waitFor();
      if (field === undefined) await said.and(focused()).waitFor();
      else {
        const control = form.getByLabel(field, { exact: true });
        await control.and(focused()).waitFor();
        expect(await control.getAttribute('aria-describedby'), at).toContain(await said.getAttribute('id'));
      }
    }
    expect(browser.complaints).toEqual([]);
  });
});
