import { createProfile } from '../support/launch-chromium.ts'
import { launchRawChromium } from '../support/raw-chromium.ts'
import { endings, infoOf, openApp, takeOver } from '../support/takeover.ts'
import { expect, test } from './support/test.ts'

const names = `holdfast.listWorkflows().then((listed) => listed.ok && listed.value.map(({ name }) => name))`
const deploy = (name: string) =>
  `holdfast.deployWorkflow({ source: ${JSON.stringify(`
export default defineWorkflow({
  name: '${name}',
  topics: { item: {} },
  consumers: { keep: { subscribe: ['item'], async prepare() { return { reservations: [], data: {} } } } },
})`)} }).then(({ ok }) => ok)`

test('when the leader closes, crashes or freezes, a follower answers as its successor with everything that was saved', async ({
  appUrl,
}) => {
  test.setTimeout(240_000)
  const profile = await createProfile()
  const chromium = await launchRawChromium(profile.folder)
  try {
    let leader = await openApp(chromium, appUrl)
    const saved: string[] = []
    for (const ending of endings) {
      const follower = await openApp(chromium, appUrl)
      expect(await infoOf(follower)).toMatchObject({ role: 'follower' })
      expect(await follower.evaluate(deploy(ending))).toBe(true)
      saved.push(ending)

      const { before, after } = await takeOver({ leader, follower }, ending)
      expect(after).toEqual({ role: 'leader', epoch: before.epoch + 1 })
      expect(await follower.evaluate<string[]>(names)).toEqual(expect.arrayContaining(saved))
      expect(await follower.evaluate(deploy(`after it ${ending}`))).toBe(true)
      if (ending === 'freezes') {
        await leader.send('Page.setWebLifecycleState', { state: 'active' })
        await expect.poll(() => infoOf(leader)).toEqual({ role: 'follower', epoch: before.epoch + 1 })
      }
      leader = follower
    }
  } finally {
    await chromium.kill()
    await profile.remove()
  }
})

test('a follower has loaded SQLite before it is needed', async ({ context }) => {
  const first = await context.newPage()
  await first.goto('./')
  await first.evaluate(() => globalThis.holdfast.engineInfo())
  const second = await context.newPage()
  const loaded = second.waitForEvent('response', (response) => /sql-wasm.*\.wasm/.test(response.url()))
  await second.goto('./')
  const info = await second.evaluate(() => globalThis.holdfast.engineInfo())
  expect(info).toMatchObject({ ok: true, value: { role: 'follower' } })
  await loaded
})
