import { killEngine } from '../support/engine-kills.ts'
import { expect, test } from './support/test.ts'

test('an application that is killed again and again does every event exactly once', async ({ appUrl }) => {
  test.setTimeout(300_000)
  const report = await killEngine(appUrl, 5)
  expect(report.problems).toEqual([])
  expect(report.questions).toBe(0)
  expect(report.eventStatuses).toEqual({ consumed: report.acknowledgedEvents })
  expect(Object.keys(report.timesDone)).toHaveLength(report.acknowledgedEvents)
  expect(Object.entries(report.timesDone).filter(([, times]) => times !== 1)).toEqual([])
})
