// Runs on the pages of the node that have samples or tabs. Without it there are no copy buttons, and everything else works.

const main = document.querySelector('main');

/** Tells screen readers, as nothing else on the page changes. */
let said = document.getElementById('said');
if (!said) {
  said = Object.assign(document.createElement('p'), { className: 'unseen', role: 'status' });
  document.body.append(said);
}

const COPIED_MS = 2000;

async function copy(pressed, code) {
  await navigator.clipboard.writeText(code);
  pressed.textContent = 'Copied';
  said.textContent = 'Copied';
  setTimeout(() => {
    pressed.textContent = 'Copy';
    said.textContent = '';
  }, COPIED_MS);
}

for (const block of main.querySelectorAll('pre')) {
  const frame = Object.assign(document.createElement('div'), { className: 'code' });
  const pressed = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'copy',
    textContent: 'Copy',
  });
  pressed.addEventListener('click', () => copy(pressed, block.textContent));
  block.replaceWith(frame);
  frame.append(block, pressed);
}

/** Opens the tab in which the target of the address is. */
function showTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const pane = target?.closest('.pane');
  if (!pane) return;
  document.getElementById(pane.previousElementSibling.htmlFor).checked = true;
  target.scrollIntoView();
}

addEventListener('hashchange', showTarget);
showTarget();
