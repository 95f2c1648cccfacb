/** The content of the page: the addresses and states of the services, and how to connect an agent. */

const { PUBLIC_BACKEND_URL: backendUrl, PUBLIC_MCP_URL: mcpUrl } = window.__ENV__;

const checkIntervalMs = 5000;
const checkTimeoutMs = 4000;
const copiedMs = 1600;

showAddress('backend', backendUrl);
showAddress('remote-mcp', mcpUrl);
showAddress('frontend', window.location.origin);
buildTabs(JSON.parse(document.querySelector('#clients').textContent));
for (const snippet of document.querySelectorAll('.snippet')) addCopyButton(snippet);
watchHealth();

function showAddress(row, url) {
  document.querySelector(`#${row} .address`).textContent = url;
}

/** Checks at an interval, and only while the page is visible. */
async function watchHealth() {
  for (;;) {
    if (!document.hidden) await checkHealth();
    await Promise.race([pause(checkIntervalMs), becomesVisible()]);
  }
}

/** Covers the services that a browser reaches. The states of MCP servers belong to workspaces, and this page has no account. */
async function checkHealth() {
  const states = await Promise.all([showState('backend', askBackend()), showState('remote-mcp', askRemoteMcp())]);
  const worst = ['red', 'yellow'].find((health) => states.some((state) => state.health === health));
  const words = { red: 'A service is down', yellow: 'A service is degraded' };
  setState(
    document.querySelector('#overall'),
    worst === undefined
      ? { health: 'green', text: 'Backend and remote MCP server work' }
      : { health: worst, text: words[worst] },
  );
}

async function askBackend() {
  try {
    const response = await fetch(`${backendUrl}/ready`, { signal: AbortSignal.timeout(checkTimeoutMs) });
    if (response.ok) return { health: 'green', text: 'healthy' };
    const { checks = {} } = await response.json().catch(() => ({}));
    const failed = Object.entries(checks).filter(([, state]) => state !== 'ok');
    const words = failed.map(([what, state]) => `${what} ${state}`).join(', ');
    return { health: 'yellow', text: words === '' ? 'degraded' : `degraded: ${words}` };
  } catch {
    return { health: 'red', text: 'down' };
  }
}

/**
 * A page of another origin may not read the answer of remote-mcp, so this finds out only whether remote-mcp answers.
 */
async function askRemoteMcp() {
  try {
    const { origin } = new URL(mcpUrl);
    const signal = AbortSignal.timeout(checkTimeoutMs);
    const response = await fetch(`${origin}/health`, { mode: 'no-cors', signal });
    const answers = response.type === 'opaque' || response.ok;
    return answers ? { health: 'green', text: 'answers' } : { health: 'red', text: 'down' };
  } catch {
    return { health: 'red', text: 'down' };
  }
}

/** Shows each state as soon as it is known, so that a service that does not answer delays no other. */
async function showState(row, asked) {
  const state = await asked;
  setState(document.querySelector(`#${row} .state`), state);
  return state;
}

function setState(element, { health, text }) {
  element.dataset.health = health;
  const words = element.querySelector('span');
  // Written only when it differs, so that a screen reader does not repeat it.
  if (words.textContent !== text) words.textContent = text;
}

/** Tabs as in the ARIA Authoring Practices: the Tab key reaches the selected one, arrow keys change the selection. */
function buildTabs(clients) {
  const list = document.querySelector('.tabs');
  const panel = document.querySelector('#snippet');
  const tabs = clients.map((client, index) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.role = 'tab';
    tab.id = `client-${index}`;
    tab.textContent = client.title;
    tab.setAttribute('aria-controls', panel.id);
    tab.addEventListener('click', () => select(index));
    return tab;
  });
  const select = (index) => {
    for (const [i, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
    }
    panel.setAttribute('aria-labelledby', tabs[index].id);
    panel.querySelector('.file').textContent = clients[index].about;
    panel.querySelector('code').textContent = clients[index].text;
  };
  list.addEventListener('keydown', (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    const step = steps[event.key];
    if (step === undefined) return;
    const next = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
    select(next);
    tabs[next].focus();
  });
  list.append(...tabs);
  select(0);
}

function addCopyButton(snippet) {
  // Browsers offer the clipboard to secure pages only; without it, users select the text themselves.
  if (navigator.clipboard === undefined) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(snippet.querySelector('code').textContent);
    button.textContent = 'Copied';
    await pause(copiedMs);
    button.textContent = 'Copy';
  });
  snippet.append(button);
}

function pause(durationMs) {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

function becomesVisible() {
  return new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}
