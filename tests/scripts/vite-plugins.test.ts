import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compile } from 'svelte/compiler'
import { expect, test } from 'vitest'
import { fixedIcons } from '../../scripts/vite-plugins.mjs'

const ICON = fileURLToPath(new URL('../../node_modules/@lucide/svelte/dist/icons/play.svelte', import.meta.url))

const { transform } = fixedIcons()
const fix = async (id: string): Promise<string> => {
  if (typeof transform !== 'object') throw new Error('The plugin has no transform of its own.')
  return (transform.handler as (code: string, id: string) => { code: string })(await readFile(id, 'utf8'), id).code
}

test('an icon becomes one fixed piece of SVG with the shapes that lucide drew', async () => {
  const fixed = await fix(ICON)

  expect(fixed).toMatch(/^<svg class="lucide lucide-play" .*aria-hidden="true"><path d="M5 5a2 2 0 .*" \/><\/svg>$/)
  expect(compile(fixed, { generate: 'client' }).js.code).not.toContain('each(')
})

test('an icon that is written in another way stops the build instead of vanishing', () => {
  const handler = (transform as { handler: (code: string, id: string) => string }).handler
  expect(() => handler('<svg />', 'play.svelte')).toThrow('no icon as it is known here')
})
