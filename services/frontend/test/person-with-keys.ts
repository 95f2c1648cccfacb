import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { patience } from './signed-in-browser.ts';

/** A control is reached with fewer stops. */
const stopsMax = 60;

/** The element that has the focus, and why a person would not see it. */
interface Stop {
  readonly name: string;
  readonly problem: string | null;
}

/** A person who uses a page by keys alone, and must see at each stop where the focus is. */
export class PersonWithKeys {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /** Presses Tab until the control has the focus. */
  async to(control: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    await control.waitFor(patience);
    const focused = control.and(this.page.locator(':focus'));
    const stops: string[] = [];
    while (stops.length < stopsMax) {
      await this.press(key);
      const stop = await this.#look();
      expect(stop?.problem ?? null, `the focus is seen at ${stop?.name}`).toBeNull();
      if ((await focused.count()) > 0) return;
      stops.push(stop?.name ?? 'the document');
    }
    throw new Error(`${control} was not reached by ${key}. The stops: ${stops.join(' > ')}`);
  }

  /** Reaches the control and presses Enter. */
  async enter(control: Locator): Promise<void> {
    await this.to(control);
    await this.press('Enter');
  }

  /** After a dialog or panel closed: the focus is at the control. */
  async isAt(control: Locator): Promise<void> {
    const focused = control.and(this.page.locator(':focus'));
    await expect
      .poll(async () => (await focused.count()) > 0 || ((await this.#look())?.name ?? 'the document'), patience)
      .toBe(true);
  }

  async #look(): Promise<Stop | null> {
    return await this.page.evaluate<Stop | null>(look);
  }
}

/** Runs in the page. */
const look = `(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return null;
  const name =
    at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? (at.textContent.trim().slice(0, 40) || at.tagName);
  const active = document.getElementById(at.getAttribute('aria-activedescendant') ?? '');
  // A grid shows its active cell, and a search its chosen option.
  const shown = [at, active, active?.closest('[role="gridcell"]')].filter((one) => one != null);
  const isMarked = (one) => {
    const { outlineStyle, outlineWidth, backgroundColor } = getComputedStyle(one);
    if (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) return true;
    const isItem = ['menuitem', 'option'].includes(one.getAttribute('role'));
    return isItem && backgroundColor !== 'rgba(0, 0, 0, 0)';
  };
  if (!shown.some(isMarked)) return { name, problem: 'it has no mark' };
  const { left, top, right, bottom } = at.getBoundingClientRect();
  const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
  const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
  const seen = document.elementFromPoint(x, y);
  if (seen === null) return { name, problem: 'it is outside the window' };
  const isOwn = at.contains(seen) || seen.contains(at);
  return { name, problem: isOwn ? null : 'it is covered by ' + seen.outerHTML.slice(0, 120) };
})()`;
