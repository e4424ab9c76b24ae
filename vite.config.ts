import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { fillContentSecurityPolicy, fillServiceWorker, fixedIcons, preloadScreen } from './scripts/vite-plugins.mjs'

const isPage = (id: string): boolean => !id.includes('/service-worker/')
/** What most screens are made of. As chunks of their own they would be dozens of files of a few hundred bytes. */
const isShared = (id: string): boolean =>
  /\/src\/ui\/(kit|looks)\/(?!dag)|\/@lucide\/|\/gallery\/(template-picture|picture-layout|glyphs)/.test(id) ||
  /\/(start-button|run-table|workflow-badge)\.svelte/.test(id)

export default defineConfig({
  // Relative, so that the built application runs from any sub-path.
  base: './',
  plugins: [
    fixedIcons(),
    svelte(),
    fillContentSecurityPolicy(),
    fillServiceWorker(),
    preloadScreen('/dashboard-screen.svelte'),
  ],
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
        codeSplitting: {
          groups: [
            { name: 'kit', test: isShared, minShareCount: 2, priority: 2 },
            { name: 'start', tags: ['$initial'], test: isPage, priority: 1 },
          ],
        },
      },
    },
  },
})
