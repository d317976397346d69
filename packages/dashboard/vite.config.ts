import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressed } from './scripts/compressed.ts';

/** zod makes functions out of text where it may, and the policy of the page reports each try; this is read before zod looks. */
const NO_EVAL = 'globalThis.__zod_globalConfig={jitless:true};';

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react(), tailwindcss(), compressed()],
  build: {
    target: 'es2023',
    // Nothing is inlined: the policy of the page allows files of this origin only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    reportCompressedSize: false,
    rolldownOptions: {
      // What makes a schema does nothing else: schemas that a view has no use for are left out.
      treeshake: { manualPureFunctions: ['z', 'endpoint'] },
      output: {
        banner: (chunk) => (chunk.moduleIds.some((id) => id.endsWith('/zod/v4/core/core.js')) ? NO_EVAL : ''),
      },
    },
  },
});
