import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type Plugin } from 'vite'
import { contentSecurityPolicy } from './scripts/content-security-policy.mjs'

const fillContentSecurityPolicy: Plugin = {
  name: 'holdfast:content-security-policy',
  transformIndexHtml: (html) => html.replace('%CONTENT_SECURITY_POLICY%', contentSecurityPolicy),
}

export default defineConfig({
  // Relative, so that the built application runs from any sub-path.
  base: './',
  plugins: [svelte(), fillContentSecurityPolicy],
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    // The first versions that know light-dark(), which the design tokens are written in.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    sourcemap: true,
  },
})
