// Runs in the browser, on every page of /docs. Without it the pages show every language, and have no search.

import '/pages/page.js';

const root = document.documentElement;
const said = document.getElementById('said');

/** The theme that was chosen in the dashboard of this node. */
const theme = localStorage.getItem('theme');
if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;

/** Tells screen readers, as nothing on the page moves. */
const say = (text) => {
  said.textContent = text;
};

function button(text, onClick) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.addEventListener('click', onClick);
  return made;
}

/** One language for all samples of all pages; a block that has no sample in it shows its first one. */
function showLanguage(language) {
  for (const samples of document.querySelectorAll('.samples')) {
    const all = [...samples.querySelectorAll('.sample')];
    const shown = all.find((sample) => sample.dataset.language === language) ?? all[0];
    for (const sample of all) sample.hidden = sample !== shown;
    for (const choice of samples.querySelectorAll('.languages button'))
      choice.setAttribute('aria-pressed', String(choice.textContent === shown.dataset.language));
  }
}

function addLanguages() {
  for (const samples of document.querySelectorAll('.samples')) {
    const bar = document.createElement('div');
    bar.className = 'languages';
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'Language');
    for (const { dataset } of samples.querySelectorAll('.sample'))
      bar.append(
        button(dataset.language, (event) => {
          const top = event.target.getBoundingClientRect().top;
          localStorage.setItem('docs-language', dataset.language);
          showLanguage(dataset.language);
          // Samples above have other lengths now: what was clicked stays where it is.
          scrollBy(0, event.target.getBoundingClientRect().top - top);
        }),
      );
    samples.prepend(bar);
  }
  showLanguage(localStorage.getItem('docs-language') ?? 'curl');
}

let engine;
/** Loads the index with the first search. */
function loadSearch() {
  engine ??= Promise.all([import('/docs/minisearch.js'), import('/docs/search.js'), loadEntries()]).then(
    ([{ default: MiniSearch }, { createSearch }, entries]) => createSearch(MiniSearch, entries),
  );
  return engine;
}

const loadEntries = () => fetch('/docs/search.json').then((answer) => answer.json());

/** The words around the first match. */
function excerpt({ text, terms }) {
  const at = Math.max(
    0,
    ...terms
      .map((term) => text.toLowerCase().indexOf(term))
      .filter((each) => each >= 0)
      .slice(0, 1),
  );
  const from = Math.max(0, at - 40);
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + 140)}…`;
}

function resultOf(hit) {
  const link = document.createElement('a');
  link.href = hit.id;
  const title = document.createElement('strong');
  title.textContent = hit.title;
  const page = document.createElement('span');
  page.textContent = hit.title === hit.page ? '' : hit.page;
  const text = document.createElement('small');
  text.textContent = excerpt(hit);
  link.append(title, ' ', page, text);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function addSearch() {
  const box = document.querySelector('search');
  const query = document.getElementById('query');
  const found = document.getElementById('found');
  box.hidden = false;

  const close = () => {
    found.hidden = true;
  };
  const show = async () => {
    const asked = query.value.trim();
    if (asked === '') return close();
    const hits = (await loadSearch())(asked).slice(0, 12);
    if (query.value.trim() !== asked) return;
    const list = document.createElement('ul');
    list.append(...hits.map(resultOf));
    const none = document.createElement('p');
    none.textContent = 'Nothing found.';
    found.replaceChildren(hits.length > 0 ? list : none);
    found.hidden = false;
    say(hits.length > 0 ? `${hits.length} results` : 'Nothing found');
  };
  const links = () => [...found.querySelectorAll('a')];
  const move = (event, by) => {
    const stops = [query, ...links()];
    const next = stops[stops.indexOf(document.activeElement) + by];
    if (!next || found.hidden) return;
    event.preventDefault();
    next.focus();
  };
  query.addEventListener('input', show);
  query.addEventListener('focus', () => loadSearch().catch(() => undefined));
  box.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(event, 1);
    if (event.key === 'ArrowUp') move(event, -1);
    if (event.key === 'Enter' && event.target === query) links()[0]?.click();
    if (event.key === 'Escape') {
      close();
      query.focus();
    }
  });
  document.addEventListener('click', (event) => {
    if (!box.contains(event.target) || links().some((link) => link.contains(event.target))) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(input|textarea)$/i.test(event.target.tagName)) return;
    event.preventDefault();
    query.focus();
  });
}

/** Addresses from the time when all stood on one page: `/docs#invokeAgent`. */
async function followOldAddress() {
  const id = location.hash.slice(1);
  if (id === '' || document.getElementById(id)) return;
  const entry = (await loadEntries()).find((each) => each.id.endsWith(`#${id}`));
  if (entry) location.replace(entry.id);
}

/** The contents are closed on narrow screens, also on one that was turned or made narrower. */
const contents = document.querySelector('.contents details');
const narrow = matchMedia('(max-width: 56rem)');
contents.open = !narrow.matches;
narrow.addEventListener('change', () => {
  contents.open = !narrow.matches;
});
const current = contents.querySelector('[aria-current]');
const frame = contents.parentElement;
if (current) frame.scrollTop = current.offsetTop - frame.clientHeight / 3;
contents.dataset.isReady = '';

addLanguages();
addSearch();
await followOldAddress();
