// Files of a result: to be saved, and pictures shown. No content of an agent becomes a page or a script here.

import { readFile } from './ask-node.js';
import { button, element, save } from './view.js';

const PICTURE = /^image\/(png|jpeg|gif|webp)$/;
const MAX_PICTURE_BYTES = 5_000_000;
const MAX_PICTURES = 4;
const MAX_VALUES = 500;
const FILE_ID = /^sha256:[0-9a-f]{64}$/;

/** Files that a result refers to, each once; a part of a very large result is looked at. */
export function filesIn(result) {
  const files = new Map();
  const left = [result];
  for (let looked = 0; left.length > 0 && looked < MAX_VALUES; looked += 1) {
    const value = left.shift();
    if (typeof value !== 'object' || value === null) continue;
    if (FILE_ID.test(value.$file)) files.set(value.$file, value);
    else left.push(...Object.values(value).slice(0, MAX_VALUES));
  }
  return [...files.values()];
}

const nameOf = ({ name }) => (typeof name === 'string' && name !== '' ? name : 'file');
const isPicture = ({ mediaType, size }) => PICTURE.test(mediaType) && size <= MAX_PICTURE_BYTES;

async function show(call, file, into) {
  const content = await readFile(call, file.$file).catch(() => null);
  if (content === null) return;
  const src = URL.createObjectURL(new Blob([content], { type: file.mediaType }));
  into.append(element('img', { src, alt: nameOf(file), className: 'picture' }));
}

/** `busy` runs a press of a button, and tells what failed. null: the result has no files. */
export function filesView(call, result, busy) {
  const files = filesIn(result);
  if (files.length === 0) return null;
  const list = files.map((file, at) => {
    const onSave = () =>
      busy(async () => save(nameOf(file), await readFile(call, file.$file), 'application/octet-stream'));
    const line = element('li', {}, element('bdi', {}, nameOf(file)), ' ', button('Save', onSave, 'plain'));
    if (isPicture(file) && at < MAX_PICTURES) show(call, file, line);
    return line;
  });
  return element('ul', { className: 'files', ariaLabel: 'Files' }, ...list);
}
