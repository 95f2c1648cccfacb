import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium } from '../../../stack/test/browser.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../../../stack/test/platform.ts';
import { PersonWithKeys } from './person-with-keys.ts';
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

  /** Opens the panel of the owner in the list of members. */
  async function openPanel(width: number): Promise<Locator> {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${places}/settings/members`);
    await page.getByRole('grid', { name: 'Members' }).getByText('owner@localhost').click();
    const panel = page.getByRole('complementary');
    await panel.and(focused()).waitFor();
    return panel;
  }

  test('a panel that covers a part of the page leaves no control of it to keys', async () => {
    for (const width of [390, 820, 1280]) {
      const panel = await openPanel(width);
      const inside = panel.locator(':focus');
      for (let stop = 0; stop < 20; stop++) {
        await page.keyboard.press('Tab');
        const isElsewhere = (await inside.count()) === 0 && (await focused().count()) > 0;
        expect(isElsewhere, `stop ${stop} at ${width}`).toBe(false);
      }
      await page.keyboard.press('Escape');
      await page.getByRole('grid', { name: 'Members' }).and(focused()).waitFor();
    }
    const panel = await openPanel(820);
    await page.mouse.click(20, 400);
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Skills' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Skills' }).waitFor();
  });

  test('a panel on a wide screen stands beside the page, and hides no control of it', async () => {
    for (const width of [1366, 1440]) {
      await openPanel(width);
      const owner = new PersonWithKeys(page);
      await owner.to(page.getByRole('button', { name: /^You: / }), 'Shift+Tab');
      await page.keyboard.press('Escape');
    }
  });

  test('a toast goes out of the way of the control with the focus', async () => {
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 400 });
      await page.goto(`${places}/settings/general`);
      // The longer the name, the wider the toast.
      const name = `Default of the people with whom we work each day at ${width}`;
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText(name).waitFor();
      // The page grows until it knows the owners.
      await page.getByText('You are the only owner').waitFor();
      await page.getByRole('button', { name: 'Copy' }).last().focus();
      for (const edge of ['below', 'above']) {
        const moved = await page.evaluate(moveUnderToast);
        expect(moved, `${edge} at ${width}`).toMatchObject({ wasCovered: true, isCovered: false });
      }
    }
  });
});

/** Runs in the page. */
const moveUnderToast = `(async () => {
  const control = document.activeElement;
  const toast = document.querySelector('body > [role="status"] > *');
  const isCovered = () => {
    const [one, other] = [control.getBoundingClientRect(), toast.getBoundingClientRect()];
    return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  };
  window.scrollBy(0, control.getBoundingClientRect().top - toast.getBoundingClientRect().top);
  const wasCovered = isCovered();
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const [{ top }, { scrollY, innerHeight }, { scrollHeight }] = [control.getBoundingClientRect(), window, document.documentElement];
  return { wasCovered, isCovered: isCovered(), control: control.outerHTML.slice(0, 60), top, scrollY, innerHeight, scrollHeight };
})()`;
