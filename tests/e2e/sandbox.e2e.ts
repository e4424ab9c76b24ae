import { hostileScripts } from '../worker/sandbox/hostile-scripts.ts'
import { expect, test } from './support/sandbox-page.ts'

const SHARES = 6
const share = Math.ceil(hostileScripts.length / SHARES)

for (let from = 0; from < hostileScripts.length; from += share) {
  const to = Math.min(from + share, hostileScripts.length)
  test(`hostile scripts ${from + 1} to ${to} end in Chromium as they do in Node`, async ({ page, complaints }) => {
    test.setTimeout(300_000)
    await page.goto('./')

    const found = await page.evaluate((range) => askSandbox({ ask: 'hostile', ...range }), { from, to })

    expect(found).toEqual({})
    expect(complaints).toEqual([])
  })
}

test('a script goes from source to outcome in nested workers', async ({ page, complaints }) => {
  await page.goto('./')
  const source = `
    interface State { n: number }
    export default defineWorkflow({
      producers: { p: { async handler(state: State | null) {
        await null
        throw new Error('on line six') } } },
    })`

  const [shape, outcome] = JSON.parse(
    await page.evaluate((text) => askSandbox({ ask: 'source', source: text }), source),
  ) as [unknown, unknown]

  expect(shape).toEqual({ ok: true, value: { producers: { p: { handler: { $function: true } } } } })
  expect(outcome).toMatchObject({
    kind: 'failed',
    failure: { message: 'on line six', position: { line: 6, column: 24 } },
  })
  expect(complaints).toEqual([])
})

test('workers and their nested workers run under the content security policy', async ({ page }) => {
  const policies = new Map<string, string | undefined>()
  page.context().on('response', (response) => {
    const name = /([\w.-]*worker)-[\w-]+\.js$/.exec(response.url())?.[1]
    if (name !== undefined) policies.set(name, response.headers()['content-security-policy'])
  })
  await page.goto('./')
  await page.evaluate(() => askSandbox({ ask: 'source', source: 'export default {}' }))

  expect(await page.evaluate(() => askSandbox({ ask: 'eval' }))).toBe('EvalError')
  expect([...policies.keys()].sort()).toEqual(['sandbox-host.worker', 'sandbox.worker'])
  for (const policy of policies.values()) expect(policy).toContain("default-src 'none'")
})

test('two workflows that compute without end do not hold up a third', async ({ page }) => {
  test.setTimeout(120_000)
  await page.goto('./')
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

  const idle = median(await page.evaluate(() => askSandbox({ ask: 'latency', hogs: 0, times: 100 })))
  const besideHogs = median(await page.evaluate(() => askSandbox({ ask: 'latency', hogs: 2, times: 100 })))

  test.info().annotations.push({ type: 'latency', description: `${idle} ms alone, ${besideHogs} ms beside two hogs` })
  // Each hog computes for a second at a time: whoever had to wait for one would wait about as long.
  expect(besideHogs).toBeLessThan(1_000 / 4)
})
