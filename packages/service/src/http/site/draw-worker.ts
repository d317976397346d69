import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

const { resolve } = createRequire(import.meta.url);
const read = (name: string) => new Uint8Array(readFileSync(resolve(name)));

await initWasm(read('@resvg/resvg-wasm/index_bg.wasm'));
const fontBuffers = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].map((name) => read(`dejavu-fonts-ttf/ttf/${name}`));

/** Draws an SVG as a PNG. An error ends the thread, and so fails the drawing. */
parentPort?.on('message', (svg: string) => {
  const picture = new Resvg(svg, { font: { fontBuffers, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' } });
  const image = picture.render();
  const png = image.asPng();
  image.free();
  picture.free();
  parentPort?.postMessage(png);
});
