import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, test } from 'vitest'
import { createStaticServer, listen } from '../../scripts/serve.mjs'
import { killEngine } from '../support/engine-kills.ts'

const kills = Number(process.env['HOLDFAST_KILLS'] ?? 200)

test('two hundred kills of the whole application, and every event is done exactly once', async () => {
  await build({ logLevel: 'silent' })
  const server = createStaticServer(fileURLToPath(new URL('../../dist', import.meta.url)))
  try {
    const report = await killEngine(await listen(server, 0), kills)
    const { timesDone, ...figures } = report
    console.log(JSON.stringify({ ...figures, done: Object.keys(timesDone).length }))
    expect(report.problems).toEqual([])
    expect(report.eventStatuses).toEqual({ consumed: report.acknowledgedEvents })
    expect(Object.values(timesDone).filter((times) => times !== 1)).toEqual([])
    expect(Object.keys(timesDone)).toHaveLength(report.acknowledgedEvents)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
