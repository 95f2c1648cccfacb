const focusable = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, [tabindex="0"]';

/** The last control that had the focus, and its ancestors, the parent first. */
let last: { readonly control: Element; readonly around: readonly Element[] } | null = null;
let isByKeys = false;

/**
 * Keeps the focus near a control that disappears or is disabled while it has the focus, such as the button of a form that was
 * saved. A browser would give the focus to the document, where neither keys nor a screen reader continue. A person with a
 * pointer misses nothing, and a field would open the keyboard of a phone.
 */
export function keepFocus(): void {
  document.addEventListener('keydown', () => (isByKeys = true), true);
  document.addEventListener('pointerdown', () => (isByKeys = false), true);
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) last = { control: target, around: ancestorsOf(target) };
  });
  new MutationObserver(restore).observe(document.body, {
    ...{ childList: true, subtree: true },
    attributeFilter: ['disabled'],
  });
}

function ancestorsOf(control: Element): readonly Element[] {
  const parent = control.parentElement;
  return parent === null || parent === document.body ? [] : [parent, ...ancestorsOf(parent)];
}

function restore(): void {
  if (!isByKeys || last === null || hasFocus()) return;
  if (last.control.isConnected && !last.control.matches(':disabled')) return;
  // A side panel is outside of the page that it belongs to.
  for (const around of [...last.around, ...document.querySelectorAll('main')]) {
    const near = around.isConnected ? around.querySelector<HTMLElement>(focusable) : null;
    near?.focus();
    if (near !== null && hasFocus()) return;
  }
}

/** A disabled control is the active element until the browser paints. */
function hasFocus(): boolean {
  const { activeElement } = document;
  return activeElement !== null && activeElement !== document.body && !activeElement.matches(':disabled');
}
