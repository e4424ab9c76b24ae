import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { fillContentSecurityPolicy, fillServiceWorker } from './scripts/vite-plugins.mjs'

export default defineConfig({
  // Relative, so that the built application runs from any sub-path.
  base: './',
  plugins: [svelte(), fillContentSecurityPolicy(), fillServiceWorker()],
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    // The first versions that know light-dark(), which the design tokens are written in.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    sourcemap: true,
    // For scripts/check-budgets.mjs: which chunk is loaded with which.
    manifest: true,
    rolldownOptions: {
      input: { index: 'index.html', 'service-worker': 'src/service-worker/service-worker.ts' },
      output: {
        // Its address is its identity, and it governs what lies beside and below it.
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
})
